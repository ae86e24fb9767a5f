//! Writes the `Code` attribute of one method (JVMS §4.7.3).

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::{DeletionFault, RewriteErrorKind};
use super::frames::{self, NewFrames};
use super::layout::Layout;
use super::plan::{Exit, Plan};
use super::pool::PoolEditor;
use super::positions::{Positions, Shift};
use super::simulate::{simulate, stored_local};
use super::tables::{self, put_u16};
use super::types::{State, Type, whole_frames};
use crate::read::opcode;
use crate::read::{
    Attribute, AttributeKind, ClassFile, Code, Handler, Instruction, Member, read_frames,
};

/// The most bytes that code may have (JVMS §4.7.3: less than 65536).
const MAX_CODE: usize = 65535;
/// The first class-file version with stack map frames.
pub(super) const FIRST_WITH_FRAMES: u16 = 50;
/// The first class-file version whose methods are verified by frames alone.
const FIRST_NEEDING_FRAMES: u16 = 51;

/// A method on its way into the new class.
pub(super) struct CodeWriter<'a, 'p> {
    pub(super) class: &'a ClassFile<'a>,
    pub(super) method: &'p Member,
    pub(super) code: &'p Code<'a>,
    pub(super) plan: &'p Plan,
    pub(super) pool: &'p mut PoolEditor<'a>,
}

impl<'a> CodeWriter<'a, '_> {
    /// Writes the content of the attribute.
    pub(super) fn write(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteErrorKind> {
        if self.plan.needs_layout() {
            self.write_laid_out(out)
        } else {
            self.write_shifted(out)
        }
    }

    /// The cheap path: the old code stays as it is, behind the code at entry.
    fn write_shifted(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteErrorKind> {
        let (code, entry) = (self.code, &self.plan.entry);
        put_u16(out, code.max_stack.max(self.plan.entry_stack));
        put_u16(out, code.max_locals);
        put_code_length(code.bytes.len() + entry.len(), out)?;
        out.extend(entry);
        out.extend(code.bytes);
        let positions = Shift(entry.len() as u32);
        tables::write_handlers(code, &positions, &[], out)?;
        let new_frames = NewFrames {
            initial: self.initial_frames(),
            whole: Vec::new(),
        };
        self.write_attributes(&positions, &new_frames, out)
    }

    fn write_laid_out(&mut self, out: &mut Vec<u8>) -> Result<(), RewriteErrorKind> {
        let plan = self.plan;
        let mut layout = Layout::new(self.code, &plan.entry)?;
        for (pc, snippet) in &plan.before {
            layout.insert(*pc, snippet)?;
        }
        if let Some(exit) = &plan.exit {
            for pc in returns(&layout) {
                for snippet in &exit.on_return {
                    layout.insert(pc, snippet)?;
                }
            }
        }
        for range in &plan.deleted {
            layout.delete(range)?;
            self.check_no_frame_in(range)?;
        }
        layout.place();
        let landing = match &plan.exit {
            Some(exit) => Some(self.landing(exit, &layout)?),
            None => None,
        };

        put_u16(out, self.max_stack()?);
        put_u16(out, self.code.max_locals);
        let landing_length = landing.as_ref().map_or(0, |landing| landing.code.len());
        put_code_length(layout.length() as usize + landing_length, out)?;
        layout.write(out);
        let mut new_frames = self.new_frames(&layout)?;
        let mut handlers = Vec::new();
        if let Some(landing) = landing {
            out.extend(landing.code);
            handlers = landing.handlers;
            if self.class.major >= FIRST_WITH_FRAMES {
                new_frames.whole.push((layout.length(), landing.state));
            }
        }
        tables::write_handlers(self.code, &layout, &handlers, out)?;
        self.write_attributes(&layout, &new_frames, out)
    }

    fn check_no_frame_in(&self, range: &Range<u16>) -> Result<(), RewriteErrorKind> {
        let Some(table) = self.code.attribute(AttributeKind::StackMapTable) else {
            return Ok(());
        };
        let inside = |pc: u32| pc > range.start as u32 && pc < range.end as u32;
        match read_frames(&table)?.iter().find(|frame| inside(frame.pc)) {
            None => Ok(()),
            Some(frame) => Err(RewriteErrorKind::CannotDelete {
                start: range.start,
                end: range.end,
                fault: DeletionFault::Frame(frame.pc),
            }),
        }
    }

    fn max_stack(&self) -> Result<u16, RewriteErrorKind> {
        let plan = self.plan;
        let inserted = plan.before.iter().map(|(_, snippet)| snippet);
        let on_return = plan.exit.iter().flat_map(|exit| &exit.on_return);
        let above = inserted
            .chain(on_return)
            .map(|snippet| snippet.max_stack)
            .max();
        // How deep the stack is at each place is not known, so the deepest.
        let within = self.code.max_stack.checked_add(above.unwrap_or(0));
        let on_throw = plan
            .exit
            .as_ref()
            .map_or(Some(0), |exit| exit.on_throw.max_stack.checked_add(1));
        match (within, on_throw) {
            (Some(within), Some(on_throw)) => Ok(within.max(on_throw).max(plan.entry_stack)),
            _ => Err(RewriteErrorKind::StackTooDeep),
        }
    }

    /// Places for frames at the end of code at entry that branches there.
    fn initial_frames(&self) -> Vec<u32> {
        if self.class.major < FIRST_WITH_FRAMES {
            return Vec::new();
        }
        let mut initial = self.plan.entry_frames.clone();
        let table = self.code.attribute(AttributeKind::StackMapTable);
        // What the first instruction has already need not stand twice.
        if table.is_some_and(|table| frames::starts_at_zero(&table))
            && initial.last() == Some(&(self.plan.entry.len() as u32))
        {
            initial.pop();
        }
        initial
    }

    /// Frames that the edits call for, as far as this class needs frames.
    fn new_frames(&self, layout: &Layout<'a, '_>) -> Result<NewFrames<'a>, RewriteErrorKind> {
        let mut new = NewFrames {
            initial: self.initial_frames(),
            whole: Vec::new(),
        };
        let table = self.code.attribute(AttributeKind::StackMapTable);
        if self.class.major < FIRST_NEEDING_FRAMES && table.is_none() {
            // Before version 50 there are none. A class of version 50 may go
            // without them, and the JVM then infers the types.
            return Ok(new);
        }
        let mut wanted = layout.frames_after();
        for pc in layout.new_targets() {
            wanted.push((pc, layout.target(pc)?));
        }
        if wanted.is_empty() {
            return Ok(new);
        }
        wanted.sort_unstable();
        wanted.dedup();
        let states = self.states_at(wanted.iter().map(|(pc, _)| *pc))?;
        for (pc, place) in wanted {
            let state = states.get(&pc).ok_or(RewriteErrorKind::NoFrame(pc))?;
            new.whole.push((place, state.clone()));
        }
        Ok(new)
    }

    /// The types at places of the old code.
    fn states_at(
        &self,
        places: impl Iterator<Item = u32>,
    ) -> Result<BTreeMap<u32, State<'a>>, RewriteErrorKind> {
        let places: Vec<_> = places.collect();
        let mut states = BTreeMap::new();
        self.simulate(|instruction, state| {
            let pc = instruction.pc as u32;
            if let (Some(state), Ok(_)) = (state, places.binary_search(&pc)) {
                states.insert(pc, state.clone());
            }
        })?;
        Ok(states)
    }

    fn simulate(
        &self,
        each: impl FnMut(&Instruction<'a>, Option<&State<'a>>),
    ) -> Result<(), RewriteErrorKind> {
        let initial = State::initial(self.class, self.method)?;
        simulate(self.class, self.code, initial, &self.old_frames()?, each)
    }

    fn old_frames(&self) -> Result<Vec<(u32, State<'a>)>, RewriteErrorKind> {
        let table = self.code.attribute(AttributeKind::StackMapTable);
        whole_frames(self.class, self.method, table.as_ref())
    }

    /// The handler for whatever leaves the method by an exception.
    fn landing(
        &self,
        exit: &Exit,
        layout: &Layout<'a, '_>,
    ) -> Result<Landing<'a>, RewriteErrorKind> {
        let mut state = State::default();
        if exit.with_this {
            if layout
                .instructions()
                .iter()
                .any(|instruction| stored_local(instruction) == Some(0))
                || self.method.is_static()
            {
                return Err(RewriteErrorKind::ThisOverwritten);
            }
            state.locals.push(Type::object(self.class.raw_name()));
        }
        state.stack.push(Type::object(b"java/lang/Throwable"));
        let before_super = self.before_super(layout)?;
        let on_return = exit.on_return.iter();
        let tail = on_return.map(|snippet| snippet.code.len() as u32).sum();
        let ranges = layout.ranges(
            |instruction| before_super.binary_search(&instruction.pc).is_err(),
            |instruction| {
                if opcode::is_return(instruction.opcode) {
                    tail
                } else {
                    0
                }
            },
        );
        let handler = narrow(layout.length())?;
        let handlers = ranges
            .into_iter()
            .map(|range| {
                Ok(Handler {
                    start: narrow(range.start)?,
                    end: narrow(range.end)?,
                    handler,
                    catch_type: 0,
                })
            })
            .collect::<Result<_, RewriteErrorKind>>()?;
        let mut code = exit.on_throw.code.clone();
        code.push(opcode::ATHROW);
        Ok(Landing {
            code,
            state,
            handlers,
        })
    }

    /// Instructions of a constructor that run before `this` is whole. A handler
    /// over both these and others has no types that fit (JVMS §4.10.1.4).
    fn before_super(&self, layout: &Layout<'a, '_>) -> Result<Vec<u16>, RewriteErrorKind> {
        let name = self
            .class
            .pool
            .utf8(self.method.name, self.method.offset + 2)?;
        if name != b"<init>" {
            return Ok(Vec::new());
        }
        let table = self.code.attribute(AttributeKind::StackMapTable);
        if self.class.major < FIRST_NEEDING_FRAMES && table.is_none() {
            return self.before_super_by_counting(layout);
        }
        let mut before = Vec::new();
        self.simulate(|instruction, state| {
            // Code that nothing reaches has no types and needs no handler.
            if state.is_none_or(State::has_uninitialized_this) {
                before.push(instruction.pc);
            }
        })?;
        Ok(before)
    }

    /// Without frames the JVM takes a handler over both. Up to the constructor
    /// call that has no `new` before it is near enough to "before".
    fn before_super_by_counting(
        &self,
        layout: &Layout<'a, '_>,
    ) -> Result<Vec<u16>, RewriteErrorKind> {
        let mut before = Vec::new();
        let mut made = 0_i64;
        for instruction in layout.instructions() {
            before.push(instruction.pc);
            match instruction.opcode {
                opcode::NEW => made += 1,
                opcode::INVOKESPECIAL => {
                    let index = instruction.constant().unwrap_or(0);
                    let offset = self.code.offset + instruction.pc as usize;
                    if self.class.pool.member(index, offset)?.name == b"<init>" {
                        made -= 1;
                    }
                }
                _ => {}
            }
            if made < 0 {
                return Ok(before);
            }
        }
        Ok(before)
    }

    fn write_attributes(
        &mut self,
        positions: &impl Positions,
        new_frames: &NewFrames<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), RewriteErrorKind> {
        let table = self.code.attribute(AttributeKind::StackMapTable);
        let add_table = table.is_none() && !new_frames.is_empty();
        let count = self.code.attributes.len() + usize::from(add_table);
        let count = u16::try_from(count).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
        put_u16(out, count);
        for attribute in &self.code.attributes {
            put_u16(out, attribute.name);
            let length_at = reserve_length(out);
            if attribute.kind == AttributeKind::StackMapTable {
                self.write_frames(Some(attribute), positions, new_frames, out)?;
            } else {
                write_attribute(attribute, positions, out)?;
            }
            patch_length(out, length_at)?;
        }
        if add_table {
            put_u16(out, self.pool.utf8(b"StackMapTable")?);
            let length_at = reserve_length(out);
            self.write_frames(None, positions, new_frames, out)?;
            patch_length(out, length_at)?;
        }
        Ok(())
    }

    fn write_frames(
        &mut self,
        attribute: Option<&Attribute<'a>>,
        positions: &impl Positions,
        new: &NewFrames<'a>,
        out: &mut Vec<u8>,
    ) -> Result<(), RewriteErrorKind> {
        if new.whole.is_empty() {
            frames::write_moved(attribute, positions, &new.initial, out)
        } else {
            let old = self.old_frames()?;
            frames::write_whole(&old, new, positions, self.pool, out)
        }
    }
}

/// Code that a new handler runs.
struct Landing<'a> {
    code: Vec<u8>,
    /// The types at its start.
    state: State<'a>,
    handlers: Vec<Handler>,
}

fn returns(layout: &Layout<'_, '_>) -> Vec<u16> {
    let instructions = layout.instructions().iter();
    instructions
        .filter(|instruction| opcode::is_return(instruction.opcode))
        .map(|instruction| instruction.pc)
        .collect()
}

fn narrow(place: u32) -> Result<u16, RewriteErrorKind> {
    u16::try_from(place).map_err(|_| RewriteErrorKind::TooLarge {
        length: place as usize,
    })
}

pub(super) fn put_code_length(length: usize, out: &mut Vec<u8>) -> Result<(), RewriteErrorKind> {
    if length > MAX_CODE {
        return Err(RewriteErrorKind::TooLarge { length });
    }
    out.extend((length as u32).to_be_bytes());
    Ok(())
}

fn write_attribute(
    attribute: &Attribute<'_>,
    positions: &impl Positions,
    out: &mut Vec<u8>,
) -> Result<(), RewriteErrorKind> {
    match attribute.kind {
        AttributeKind::LineNumberTable => tables::write_lines(attribute, positions, out),
        AttributeKind::LocalVariableTable | AttributeKind::LocalVariableTypeTable => {
            tables::write_locals(attribute, positions, out)
        }
        AttributeKind::RuntimeVisibleTypeAnnotations
        | AttributeKind::RuntimeInvisibleTypeAnnotations => {
            tables::write_type_annotations(attribute, positions, out)
        }
        _ => {
            out.extend(attribute.content);
            Ok(())
        }
    }
}

/// Leaves room for the length of an attribute; returns where.
pub(super) fn reserve_length(out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend([0; 4]);
    at
}

/// Writes the length of what stands behind `at` into the 4 bytes there.
pub(super) fn patch_length(out: &mut [u8], at: usize) -> Result<(), RewriteErrorKind> {
    let length =
        u32::try_from(out.len() - at - 4).map_err(|_| RewriteErrorKind::AttributeTooLong)?;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
