//! The functions of a sanitizer that stand between a program and the C library.
//!
//! AddressSanitizer learns of threads through its own `pthread_create` and `pthread_join`, which
//! the definition after ours skips. Where it is linked, its functions are the real ones.

use libc::c_void;
use std::arch::asm;
use std::ffi::CStr;

/// The address in the global offset table of a weak symbol: null where nobody defines it. A symbol
/// is weak by object file, so the load says so itself: it may be inlined into any.
#[cfg(target_arch = "x86_64")]
macro_rules! weak {
    ($name:literal) => {{
        let found: *mut c_void;
        // SAFETY: one load from the table, which the linker fills.
        unsafe {
            asm!(
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) found,
                options(nostack, pure, readonly, preserves_flags),
            );
        }
        found
    }};
}

/// The address in the global offset table of a weak symbol: null where nobody defines it. A symbol
/// is weak by object file, so the load says so itself: it may be inlined into any.
#[cfg(target_arch = "aarch64")]
macro_rules! weak {
    ($name:literal) => {{
        let found: *mut c_void;
        // SAFETY: one load from the table, which the linker fills.
        unsafe {
            asm!(
                concat!(".weak ", $name),
                concat!("adrp {0}, :got:", $name),
                concat!("ldr {0}, [{0}, :got_lo12:", $name, "]"),
                out(reg) found,
                options(nostack, pure, readonly, preserves_flags),
            );
        }
        found
    }};
}

/// The sanitizer's function of a name, where it has to be the real one; else null.
pub(super) fn find(name: &CStr) -> *mut c_void {
    match name.to_bytes() {
        b"pthread_create" => weak!("__interceptor_pthread_create"),
        b"pthread_join" => weak!("__interceptor_pthread_join"),
        _ => std::ptr::null_mut(),
    }
}
