//! What `main` hands to the commands.

use explorer::session::driver::OpenWith as WindowOptions;

/// Opens the window and returns when it is closed.
pub type OpenWindow = fn(WindowOptions) -> engine::error::Result<()>;

/// What the commands cannot reach themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// The window, in a build that has one.
    pub window: Option<OpenWindow>,
}
