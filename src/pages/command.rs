//! Floor 11: every act of the user, as a value. Menus, keys and the mouse all make one of these. What is done on a page is
//! known to that page alone.

use std::any::Any;
use std::fmt::Debug;

use crate::app::command::{SettingsCommand, TaskCommand, WindowCommand};
use crate::app::page::Page;
use crate::app::state::AppState;
use crate::pages::lesson::LessonCommand;
use crate::pages::training::command::TrainingCommand;

/// Every act of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Something on a page.
    Page(Box<dyn AnyCommand>),
    /// Something on the sheet New training.
    Training(TrainingCommand),
    /// Something with lessons.
    Lesson(LessonCommand),
    /// Something about the window.
    Window(WindowCommand),
    /// Something about the devices, the picture and its colours.
    Settings(SettingsCommand),
    /// Something about long work.
    Task(TaskCommand),
}

impl Command {
    /// What is done on a page, if it is a command of this type, the whole one of that page.
    pub fn of_page<C: 'static>(&self) -> Option<&C> {
        let Self::Page(command) = self else { return None };
        let command: &dyn Any = &**command;
        command.downcast_ref()
    }
}

/// The command of whichever page.
pub trait AnyCommand: Any + Debug {
    /// Whose it is.
    fn page(&self) -> Page;
    /// Has that page do it.
    fn apply_to(self: Box<Self>, page: &mut dyn Any, app: &mut AppState);
    /// The same again.
    fn again(&self) -> Box<dyn AnyCommand>;
    /// Whether it is the same as another.
    fn is(&self, other: &dyn Any) -> bool;
}

impl Clone for Box<dyn AnyCommand> {
    fn clone(&self) -> Self {
        (**self).again()
    }
}

impl PartialEq for dyn AnyCommand {
    fn eq(&self, other: &Self) -> bool {
        self.is(other)
    }
}

/// A command of a group is a command.
macro_rules! wrap {
    ($($group:ident => $wrap:ident;)*) => {
        $(impl From<$group> for Command {
            fn from(command: $group) -> Self {
                Self::$wrap(command)
            }
        })*
    };
}

wrap! {
    TrainingCommand => Training;
    LessonCommand => Lesson;
    WindowCommand => Window;
    SettingsCommand => Settings;
    TaskCommand => Task;
}
