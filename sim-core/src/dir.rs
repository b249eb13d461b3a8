//! The folder of a run: real files of its hosts, for as long as there is no simulated disk.
//!
//! It is made when a program first asks, and emptied at the end of the run. Its path is the same in
//! every run that is alone on its machine: the first of some numbered folders that no other run
//! holds a lock on. A program that says its path elsewhere may so differ from run to run. What killed
//! processes left in any of them is forgotten before the first run of a process that asks.
//!
//! It is below `TMPDIR` where that is set to something; else in memory, below `/dev/shm`, where there
//! is much of it; else below `/tmp`. The files of a run live for a few milliseconds, and a
//! disk would take longer to forget them than the run takes.

use hostsim::seam::outside;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// The most runs that have a folder at once.
const FOLDERS_MAX: u32 = 4096;

/// A file system in memory, on Linux.
const MEMORY: &CStr = c"/dev/shm";

/// How many bytes it must have left: those of containers are often too small for what an
/// application keeps.
const MEMORY_MIN: u64 = 1 << 30;

/// Where the folders of runs are. It is asked for once: a run's path must not depend on what others
/// write meanwhile.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| root_of(std::env::var_os("TMPDIR"), outside::free_bytes(MEMORY)))
}

/// The root, by the value of `TMPDIR` and by how many bytes are free in memory, where there is such
/// a folder. A relative one is made absolute: it means the same folder wherever the process goes.
fn root_of(set: Option<OsString>, free: Option<u64>) -> PathBuf {
    match (set.filter(|folder| !folder.is_empty()), free) {
        (Some(folder), _) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        (None, Some(bytes)) if bytes >= MEMORY_MIN => OsStr::from_bytes(MEMORY.to_bytes()).into(),
        (None, _) => PathBuf::from("/tmp"),
    }
}

/// The folder of a run, where one was asked for.
#[derive(Debug, Default)]
pub(crate) struct Folder(Mutex<Option<Locked>>);

/// A folder that is this run's alone. The lock ends with the process at the latest.
#[derive(Debug)]
struct Locked {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// The folder of a host.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn of(&self, host: &str) -> io::Result<PathBuf> {
        let mut locked = self.0.lock().expect("nobody panics with the folder");
        let locked = match &mut *locked {
            Some(locked) => locked,
            none => none.insert(lock()?),
        };
        let path = locked.path.join(host);
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// Empties it and lets it go.
    pub(crate) fn clear(&self) {
        let locked = self.0.lock().expect("nobody panics with the folder").take();
        if let Some(locked) = locked {
            // The next run that has it empties it again.
            let _ = fs::remove_dir_all(&locked.path);
        }
    }
}

fn lock() -> io::Result<Locked> {
    // A folder a user: what another one made could not be written to.
    let user = fs::metadata("/proc/self")?.uid();
    let root = root().join(format!("sim-{user}"));
    fs::create_dir_all(&root)?;
    static SWEPT: OnceLock<()> = OnceLock::new();
    SWEPT.get_or_init(|| forget_killed(&root));
    for number in 0..FOLDERS_MAX {
        let path = root.join(format!("{number:04}"));
        let lock = File::create(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => return Ok(Locked { path: empty(path)?, _lock: lock }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::from(io::ErrorKind::StorageFull))
}

/// Empties the folders whose processes were killed: below `/dev/shm` they hold memory, and the next
/// run takes over the first of them alone. What cannot be removed is left to whoever has its number.
fn forget_killed(root: &Path) {
    for number in 0..FOLDERS_MAX {
        let path = root.join(format!("{number:04}"));
        // The locks stay, without a gap: their numbers were handed out in order.
        let Ok(lock) = File::open(path.with_extension("lock")) else { break };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// An empty folder in place of what a killed process left.
fn empty(path: PathBuf) -> io::Result<PathBuf> {
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(&path)?;
    Ok(path)
}

/// Writes a file below a folder, with the folders on its way.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_where_it_was_asked_for_or_in_memory_where_there_is_room() {
        let set = |free| root_of(Some("/somewhere".into()), free);
        assert_eq!([None, Some(u64::MAX)].map(set), [(); 2].map(|()| PathBuf::from("/somewhere")));
        assert_eq!(root_of(None, Some(MEMORY_MIN)), Path::new("/dev/shm"));
        for free in [None, Some(0), Some(MEMORY_MIN - 1)] {
            assert_eq!(root_of(None, free), Path::new("/tmp"));
        }
        let folder = Folder::default();
        let path = folder.of("db").unwrap();
        folder.clear();
        assert!(path.starts_with(root()), "{} is below {}", path.display(), root().display());
    }

    #[test]
    fn folders_of_killed_processes_are_emptied_and_those_of_others_stay() {
        let root = std::env::temp_dir().join(format!("killed-{}", std::process::id()));
        let folders = ["0000", "0001", "0002"].map(|number| root.join(number));
        let locks = folders.each_ref().map(|folder| {
            write(folder, "db/data", b"x").unwrap();
            File::create(folder.with_extension("lock")).unwrap()
        });
        locks[1].lock().unwrap();
        forget_killed(&root);
        assert_eq!(folders.map(|folder| folder.exists()), [false, true, false]);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn two_runs_have_two_folders_and_leave_none() {
        let (first, second) = (Folder::default(), Folder::default());
        let [one, other] = [&first, &second].map(|folder| folder.of("db").unwrap());
        assert_ne!(one, other);
        fs::write(one.join("data"), b"x").unwrap();
        first.clear();
        assert!(!one.exists());
        assert!(other.exists());
        let again = Folder::default();
        let path = again.of("db").unwrap();
        assert!(!path.join("data").exists());
        // A process that is killed leaves its files and loses its lock: the next one finds none.
        fs::write(path.join("data"), b"x").unwrap();
        *again.0.lock().unwrap() = None;
        let next = [(); 3].map(|()| Folder::default());
        for folder in &next {
            assert!(!folder.of("db").unwrap().join("data").exists());
        }
        next.iter().for_each(Folder::clear);
        again.clear();
        second.clear();
        assert!(!other.exists());
    }
}
