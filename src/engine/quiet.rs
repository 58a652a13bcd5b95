//! Panics caught, and those of others' code kept quiet. Imports nothing of ours.

use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::{cell::Cell, sync::Once};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Hands on every panic but those of threads that are trying something out.
fn silenced(hook: Hook) -> Hook {
    Box::new(move |info| {
        if !QUIET.get() {
            hook(info);
        }
    })
}

/// As [`caught`], without the usual report on stderr.
pub fn catch_quietly<T>(f: impl FnOnce() -> T) -> std::result::Result<T, String> {
    // The panic hook is one for the whole program, so it is changed once and for good: it is silent on
    // threads that are trying something out and hands every other panic on to the hook before it.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(silenced(std::panic::take_hook())));
    let outer = QUIET.replace(true);
    let result = caught(f);
    QUIET.set(outer);
    result
}

/// Runs `f`; a panic becomes its message.
pub fn caught<T>(f: impl FnOnce() -> T) -> std::result::Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no details".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn only_the_thread_that_tries_something_out_is_silent() {
        // Counts the panics that are reported, by the message that only this test uses.
        static REPORTED: AtomicUsize = AtomicUsize::new(0);
        let before = std::panic::take_hook();
        std::panic::set_hook(silenced(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() == Some(&"planted here") {
                REPORTED.fetch_add(1, Ordering::AcqRel);
            } else {
                before(info);
            }
        })));
        let elsewhere = || std::thread::spawn(|| panic!("planted here")).join().is_err();
        assert_eq!(catch_quietly(|| -> () { panic!("planted here") }), Err("planted here".to_owned()));
        assert_eq!(catch_quietly(elsewhere), Ok(true));
        assert!(elsewhere());
        assert_eq!(REPORTED.load(Ordering::Acquire), 2, "both panics of other threads are told, the tried one is not");
    }
}
