//! Weights in large pages of memory: on pages of 4 KB, looking them up takes as long as reading them. They share
//! regions that begin at a large page and end with their last user (Linux; elsewhere it is like any other memory).

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Bytes of a large page.
const PAGE: usize = 2 << 20;
/// Bytes of a region of small weights.
const REGION: usize = 4 * PAGE;
/// What numbers are aligned to: a line of a cache.
const LINE: usize = 64;

struct Region {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a region is only an address and a size; each of its users has a part of its own.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// The region that is being filled, and how many bytes of it are taken.
static FILLING: Mutex<(Weak<Region>, usize)> = Mutex::new((Weak::new(), 0));

impl Region {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes.next_multiple_of(PAGE), PAGE).expect("weights fit in memory");
        // SAFETY: the layout is not empty.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        // SAFETY: the range is ours, and the advice changes no byte of it.
        unsafe {
            libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE);
        }
        Self { start, layout }
    }

    fn take(bytes: usize) -> (Arc<Self>, usize) {
        let bytes = bytes.next_multiple_of(LINE);
        let mut filling = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
        let (region, from) = match filling.0.upgrade() {
            Some(region) if filling.1 + bytes <= region.layout.size() => (region, filling.1),
            _ => (Arc::new(Self::new(bytes.max(REGION))), 0),
        };
        *filling = (Arc::downgrade(&region), from + bytes);
        (region, from)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and no user is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// A fixed number of numbers.
pub struct PagedNumbers<T> {
    start: NonNull<T>,
    length: usize,
    /// Keeps the memory; none where there are no numbers.
    _region: Option<Arc<Region>>,
}

// SAFETY: as a vector of the same numbers.
unsafe impl<T: Send> Send for PagedNumbers<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PagedNumbers<T> {}

impl<T: Copy> PagedNumbers<T> {
    pub fn filled(length: usize, number: T) -> Self {
        const { assert!(align_of::<T>() <= LINE, "numbers fit a line") };
        if length == 0 || size_of::<T>() == 0 {
            return Self { start: NonNull::dangling(), length, _region: None };
        }
        let (region, from) = Region::take(length * size_of::<T>());
        // SAFETY: `take` gave these bytes to nobody else, and they begin at a whole line.
        let start = unsafe { region.start.add(from) }.cast::<T>();
        for i in 0..length {
            // SAFETY: inside what was taken.
            unsafe { start.add(i).write(number) };
        }
        Self { start, length, _region: Some(region) }
    }
}

impl<T> Deref for PagedNumbers<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many numbers were written there, and they are ours.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for PagedNumbers<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl<T: Copy> Clone for PagedNumbers<T> {
    fn clone(&self) -> Self {
        let Some(first) = self.first() else { return Self::default() };
        let mut copy = Self::filled(self.length, *first);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Default for PagedNumbers<T> {
    fn default() -> Self {
        Self { start: NonNull::dangling(), length: 0, _region: None }
    }
}

impl<T> std::fmt::Debug for PagedNumbers<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_sizes_are_apart_and_outlive_their_neighbours() {
        let sizes = [0, 1, 31, 4096, REGION / 4 + 5, 700_000, 3, 2 * REGION];
        let mut all: Vec<PagedNumbers<f32>> =
            sizes.iter().enumerate().map(|(n, size)| PagedNumbers::filled(*size, n as f32)).collect();
        for (n, (numbers, size)) in all.iter_mut().zip(sizes).enumerate() {
            assert_eq!((numbers.len(), numbers.as_ptr() as usize % LINE), (size, if size > 0 { 0 } else { 4 }));
            numbers.iter_mut().for_each(|x| *x += 10.0 * n as f32);
        }
        let copies: Vec<PagedNumbers<f32>> = all.iter().step_by(2).cloned().collect();
        let kept: Vec<PagedNumbers<f32>> = all.into_iter().skip(1).step_by(2).collect();
        let more = PagedNumbers::filled(REGION / 2, 7u16);
        for (n, numbers) in copies.iter().enumerate().map(|(n, numbers)| (2 * n, numbers)) {
            assert!(numbers.len() == sizes[n] && numbers.iter().all(|x| *x == 11.0 * n as f32), "{n}");
        }
        for (n, numbers) in kept.iter().enumerate().map(|(n, numbers)| (2 * n + 1, numbers)) {
            assert!(numbers.len() == sizes[n] && numbers.iter().all(|x| *x == 11.0 * n as f32), "{n}");
        }
        assert!(more.iter().all(|x| *x == 7));
    }
}
