//! What a gateway and its services say to each other, in two versions that live side by side.
//!
//! The second version of a request says which gateway sends it, the second version of a reply which
//! version of the service answers. Who is of the first version neither writes those fields nor reads
//! them: they are skipped, as protocol buffers have it. Who is of the second reads their absence as
//! the zero of proto3. The messages are what `prost-build` would generate, by hand.

use prost::Message;

/// What a service is asked to do for an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The identity of the order.
    pub id: u64,
    /// How many units, or how many cents.
    pub amount: u32,
    /// How long the work of it takes, in milliseconds.
    pub millis: u32,
}

/// A request of the first version.
#[derive(Clone, PartialEq, Message)]
pub struct AskV1 {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint32, tag = "2")]
    amount: u32,
    #[prost(uint32, tag = "3")]
    millis: u32,
}

/// A request of the second version.
#[derive(Clone, PartialEq, Message)]
pub struct AskV2 {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint32, tag = "2")]
    amount: u32,
    #[prost(uint32, tag = "3")]
    millis: u32,
    #[prost(uint32, tag = "4")]
    sender: u32,
}

/// A reply of the first version.
#[derive(Clone, PartialEq, Message)]
pub struct ReplyV1 {
    #[prost(bool, tag = "1")]
    is_done: bool,
}

/// A reply of the second version.
#[derive(Clone, PartialEq, Message)]
pub struct ReplyV2 {
    #[prost(bool, tag = "1")]
    is_done: bool,
    #[prost(uint32, tag = "2")]
    version: u32,
}

/// A version of the programs, by its messages.
pub trait Version: Copy + Send + Sync + Unpin + 'static {
    /// Its number.
    const NUMBER: u32;
    /// Its requests.
    type Ask: Message + Default + Clone + 'static;
    /// Its replies.
    type Reply: Message + Default + Clone + 'static;

    /// Writes a request of a sender, whose number is not zero.
    fn ask(order: Order, sender: u32) -> Self::Ask;

    /// Reads a request: the order, and who sent it, where this version knows.
    fn read_ask(ask: &Self::Ask) -> (Order, Option<u32>);

    /// Writes a reply.
    fn reply(is_done: bool) -> Self::Reply;

    /// Reads a reply: whether it is done, and the version of who answered, where this version
    /// knows.
    fn read_reply(reply: &Self::Reply) -> (bool, Option<u32>);
}

/// The first version.
#[derive(Clone, Copy, Debug)]
pub struct V1;

/// The second version.
#[derive(Clone, Copy, Debug)]
pub struct V2;

impl Version for V1 {
    const NUMBER: u32 = 1;
    type Ask = AskV1;
    type Reply = ReplyV1;

    fn ask(Order { id, amount, millis }: Order, _: u32) -> AskV1 {
        AskV1 { id, amount, millis }
    }

    fn read_ask(ask: &AskV1) -> (Order, Option<u32>) {
        (Order { id: ask.id, amount: ask.amount, millis: ask.millis }, None)
    }

    fn reply(is_done: bool) -> ReplyV1 {
        ReplyV1 { is_done }
    }

    fn read_reply(reply: &ReplyV1) -> (bool, Option<u32>) {
        (reply.is_done, None)
    }
}

impl Version for V2 {
    const NUMBER: u32 = 2;
    type Ask = AskV2;
    type Reply = ReplyV2;

    fn ask(Order { id, amount, millis }: Order, sender: u32) -> AskV2 {
        AskV2 { id, amount, millis, sender }
    }

    fn read_ask(ask: &AskV2) -> (Order, Option<u32>) {
        let order = Order { id: ask.id, amount: ask.amount, millis: ask.millis };
        (order, (ask.sender > 0).then_some(ask.sender))
    }

    fn reply(is_done: bool) -> ReplyV2 {
        ReplyV2 { is_done, version: V2::NUMBER }
    }

    /// A reply that names no version is of the first.
    fn read_reply(reply: &ReplyV2) -> (bool, Option<u32>) {
        (reply.is_done, Some(reply.version.max(V1::NUMBER)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: Order = Order { id: 7, amount: 2, millis: 30 };

    /// What one version wrote, as another one reads it.
    fn asked<W: Version, R: Version>() -> (Order, Option<u32>) {
        let bytes = W::ask(ORDER, 3).encode_to_vec();
        R::read_ask(&R::Ask::decode(&bytes[..]).expect("it is a request"))
    }

    fn replied<W: Version, R: Version>() -> (bool, Option<u32>) {
        let bytes = W::reply(true).encode_to_vec();
        R::read_reply(&R::Reply::decode(&bytes[..]).expect("it is a reply"))
    }

    #[test]
    fn each_version_reads_what_the_other_writes() {
        assert_eq!(asked::<V1, V1>(), (ORDER, None));
        assert_eq!(asked::<V2, V1>(), (ORDER, None));
        assert_eq!(asked::<V1, V2>(), (ORDER, None));
        assert_eq!(asked::<V2, V2>(), (ORDER, Some(3)));
        assert_eq!(replied::<V1, V1>(), (true, None));
        assert_eq!(replied::<V2, V1>(), (true, None));
        assert_eq!(replied::<V1, V2>(), (true, Some(1)));
        assert_eq!(replied::<V2, V2>(), (true, Some(2)));
    }
}
