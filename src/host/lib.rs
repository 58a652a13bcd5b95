//! What the command line and the module of Python share: the models that are installed, where to compute, the
//! words and links of what was found.

pub mod bundled;
pub mod runtime;
pub mod words;
