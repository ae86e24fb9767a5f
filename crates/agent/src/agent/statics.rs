//! Whether tests leave static fields as they found them.
//!
//! A test that sets a static field and sets it back has left nothing behind. The
//! code cannot tell, the values can: they are looked at when a window opens
//! and when it closes. That says something only where no other window was open
//! in between.

use std::collections::HashMap;
use std::sync::Arc;

use fewest_model::ClassName;
use fewest_trace::Event;

use super::{Agent, lock};
use crate::jvmti::{Jni, Jvmti, Local, StaticFields};
use crate::ledger::Ledger;

/// The static fields of this JVM that code can set.
#[derive(Default)]
pub(super) struct Statics {
    /// Classes with such fields, as they load.
    expected: HashMap<ClassName, Expected>,
    classes: Vec<Watched>,
    /// The window that is open alone.
    alone: Option<u32>,
}

#[derive(Clone, Copy)]
struct Expected {
    number: u32,
    has_initializer: bool,
}

struct Watched {
    name: ClassName,
    number: u32,
    fields: StaticFields,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its initializer has not come to its end.
    Initializing,
    Ready,
    /// Another class has the same name, and counts with it.
    Ambiguous,
}

impl Statics {
    /// A class with such fields is about to load.
    pub(super) fn expect(&mut self, name: ClassName, number: u32, has_initializer: bool) {
        let expected = Expected {
            number,
            has_initializer,
        };
        self.expected.insert(name, expected);
    }

    fn prepared(&mut self, jvmti: Jvmti, jni: Jni<'_>, class: Local<'_>) -> Option<Event> {
        if self.expected.is_empty() {
            return None;
        }
        let name = ClassName::new(jvmti.class_name(class)?);
        let expected = *self.expected.get(&name)?;
        if let Some(known) = self.classes.iter_mut().find(|known| known.name == name) {
            known.state = State::Ambiguous;
            return None;
        }
        let fields = StaticFields::of(jvmti, jni, class)?;
        let mut watched = Watched {
            name,
            number: expected.number,
            fields,
            state: State::Initializing,
        };
        let ready = (!expected.has_initializer).then(|| watched.ready());
        self.classes.push(watched);
        ready
    }

    fn initialized(&mut self, jni: Jni<'_>, number: u32) -> Option<Event> {
        let watched = self
            .classes
            .iter_mut()
            .find(|watched| watched.number == number && watched.state == State::Initializing)?;
        watched.fields.remember(jni);
        Some(watched.ready())
    }

    fn opened(&mut self, jni: Jni<'_>, window: u32, is_only: bool) {
        self.alone = is_only.then_some(window);
        if is_only {
            for watched in &mut self.classes {
                if watched.state == State::Ready {
                    watched.fields.remember(jni);
                }
            }
        }
    }

    /// What a window leaves behind; `None` where nothing can be said.
    fn closed(&mut self, jni: Jni<'_>, window: u32) -> Option<Event> {
        if self.alone != Some(window) {
            return None;
        }
        self.alone = None;
        let mut fields: Vec<(ClassName, Arc<str>)> = Vec::new();
        for watched in &self.classes {
            let left = match watched.state {
                State::Ready => watched.fields.changed(jni),
                State::Initializing | State::Ambiguous => watched.fields.names(),
            };
            fields.extend(left.into_iter().map(|field| (watched.name.clone(), field)));
        }
        Some(Event::Left { window, fields })
    }
}

impl Watched {
    fn ready(&mut self) -> Event {
        self.state = State::Ready;
        Event::Watched {
            class: self.name.clone(),
            fields: self.fields.names(),
        }
    }
}

impl Agent {
    pub(crate) fn class_prepared(&self, jni: Jni<'_>, class: Local<'_>) {
        let ready = lock(&self.statics).prepared(self.jvmti, jni, class);
        if let Some(ready) = ready {
            lock(&self.ledger).add_event(ready);
        }
    }

    /// The initializer of a class has come to its end.
    pub(super) fn statics_initialized(&self, jni: Jni<'_>, class: u32, ledger: &mut Ledger) {
        let ready = lock(&self.statics).initialized(jni, class);
        if let Some(ready) = ready {
            ledger.add_event(ready);
        }
    }

    /// The window of a class has opened.
    pub(super) fn statics_opened(&self, jni: Jni<'_>, window: u32, ledger: &Ledger) {
        let is_only = ledger.open_windows() == [window];
        lock(&self.statics).opened(jni, window, is_only);
    }

    /// A window has closed.
    pub(super) fn statics_closed(&self, jni: Jni<'_>, window: u32, ledger: &mut Ledger) {
        let left = lock(&self.statics).closed(jni, window);
        // A thread that lives on may set a field at any time.
        if let Some(left) = left.filter(|_| !ledger.lingers(window)) {
            ledger.add_event(left);
        }
    }
}
