//! Gives the window's thread the cores first: other threads lower their priority.
//! Linux alone has a priority for a thread that needs no rights; elsewhere nothing changes.

/// How far behind the window: translating what is typed.
pub const LIVE: i32 = 10;
/// How far behind the window: whole corpora, maps and the like.
pub const CORPUS: i32 = 15;

/// Lowers the priority of the calling thread; threads that it starts inherit this.
pub fn step_back(to: i32) {
    #[cfg(target_os = "linux")]
    {
        // A process that already runs at a lower priority may not raise it, and need not.
        let _ = rustix::process::setpriority_process(None, to);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = to;
}

/// As [`step_back`], for the threads of the pool that computes for all of them.
pub fn step_back_with_pool(to: i32) {
    step_back(to);
    rayon::broadcast(|_| step_back(to));
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_steps_back_leaves_the_others_where_they_are() {
        let own = || rustix::process::getpriority_process(None).expect("every thread has a priority");
        let before = own();
        // There is nothing further behind than 19.
        let behind = (before + 3).min(19);
        let theirs = std::thread::spawn(move || {
            step_back(behind);
            (own(), std::thread::spawn(own).join())
        });
        let (stepped, child) = theirs.join().expect("the thread ends");
        assert_eq!((stepped, child.expect("the thread ends"), own()), (behind, behind, before));
    }
}
