//! Zstandard, which is written in C: a browser has none, and says so.

#[cfg(not(target_family = "wasm"))]
pub use zstd::stream::read::Decoder;
#[cfg(not(target_family = "wasm"))]
pub use zstd::stream::write::Encoder;

#[cfg(target_family = "wasm")]
pub use crate::text::zstandard::absent::{AbsentDecoder as Decoder, AbsentEncoder as Encoder};

#[cfg(target_family = "wasm")]
mod absent {
    use std::io::{BufRead, Error, Read, Result, Write};
    use std::{convert::Infallible, marker::PhantomData};

    fn refused<T>() -> Result<T> {
        Err(Error::other("it is packed with zstandard, which a browser does not unpack; use gzip"))
    }

    /// Never made.
    pub struct AbsentDecoder<'a, R>(Infallible, PhantomData<(&'a (), R)>);

    impl<R: BufRead> AbsentDecoder<'static, R> {
        pub fn with_buffer(_input: R) -> Result<Self> {
            refused()
        }
    }

    impl<R> Read for AbsentDecoder<'_, R> {
        fn read(&mut self, _bytes: &mut [u8]) -> Result<usize> {
            match self.0 {}
        }
    }

    /// Never made.
    pub struct AbsentEncoder<'a, W>(Infallible, PhantomData<(&'a (), W)>);

    impl<W: Write> AbsentEncoder<'static, W> {
        pub fn new(_output: W, _level: i32) -> Result<Self> {
            refused()
        }

        /// As there is none, nothing.
        pub fn include_checksum(&mut self, _include: bool) -> Result<()> {
            match self.0 {}
        }

        /// As there is none, nothing.
        pub fn finish(self) -> Result<W> {
            match self.0 {}
        }
    }

    impl<W> Write for AbsentEncoder<'_, W> {
        fn write(&mut self, _bytes: &[u8]) -> Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> Result<()> {
            match self.0 {}
        }
    }
}
