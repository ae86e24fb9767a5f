//! Random edits of programs.

use fastrand::Rng;

use crate::generate;
use crate::program::{
    Access, Body, Kind, Member, Program, Special, Statement, Style, Type, TypeId, Value,
};

/// A program after an edit, and what the edit was.
#[derive(Clone, Debug)]
pub struct Edit {
    pub kind: EditKind,
    pub after: Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EditKind {
    /// A number in a body, or what a method returns without fuel.
    Number,
    InsertStatement,
    DeleteStatement,
    ReplaceStatement,
    SwapStatements,
    /// A test that passed fails.
    Fail,
    AddMember,
    DeleteMember,
    AddOverride,
    AddHidingMethod,
    AddOverload,
    MoveUp,
    FieldValue,
    FieldFinality,
    Access,
    Superclass,
    AddInterface,
    RemoveInterface,
    Mark,
    Serializable,
    Special,
    EnumOrder,
    EnumConstant,
    AddType,
    DeleteType,
    SpareConstructor,
    ChangeResource,
    AddResource,
    DeleteResource,
    ChangeFile,
    AddFile,
    DeleteFile,
    /// Comments, lines, names of local variables, the order of methods.
    Neutral,
}

impl EditKind {
    /// All that can change what a program does.
    pub const REAL: [Self; 32] = [
        Self::Number,
        Self::InsertStatement,
        Self::DeleteStatement,
        Self::ReplaceStatement,
        Self::SwapStatements,
        Self::Fail,
        Self::AddMember,
        Self::DeleteMember,
        Self::AddOverride,
        Self::AddHidingMethod,
        Self::AddOverload,
        Self::MoveUp,
        Self::FieldValue,
        Self::FieldFinality,
        Self::Access,
        Self::Superclass,
        Self::AddInterface,
        Self::RemoveInterface,
        Self::Mark,
        Self::Serializable,
        Self::Special,
        Self::EnumOrder,
        Self::EnumConstant,
        Self::AddType,
        Self::DeleteType,
        Self::SpareConstructor,
        Self::ChangeResource,
        Self::AddResource,
        Self::DeleteResource,
        Self::ChangeFile,
        Self::AddFile,
        Self::DeleteFile,
    ];
}

/// An edit of a random kind.
pub fn edit(program: &Program, rng: &mut Rng) -> Edit {
    loop {
        let kind = EditKind::REAL[rng.usize(..EditKind::REAL.len())];
        if let Some(edit) = edit_of(program, kind, rng) {
            return edit;
        }
    }
}

/// An edit of this kind, if the program has what it takes.
pub fn edit_of(program: &Program, kind: EditKind, rng: &mut Rng) -> Option<Edit> {
    let mut after = program.clone();
    apply(&mut after, kind, rng)?;
    (after != *program).then_some(Edit { kind, after })
}

fn apply(program: &mut Program, kind: EditKind, rng: &mut Rng) -> Option<()> {
    let before = program.clone();
    let number = rng.i32(1000..2000);
    match kind {
        EditKind::Number
        | EditKind::InsertStatement
        | EditKind::DeleteStatement
        | EditKind::ReplaceStatement
        | EditKind::SwapStatements
        | EditKind::Fail => edit_body(program, kind, rng)?,
        EditKind::AddMember => {
            let one = a_type(program, rng, |one| one.kind != Kind::Exception)?;
            let mut member = generate::member(&before, one, rng)?;
            generate::fill(&before, one.id, &mut member, rng);
            one.members.push(member);
        }
        EditKind::DeleteMember => {
            let one = a_type(program, rng, |one| !one.members.is_empty())?;
            one.members.remove(rng.usize(..one.members.len()));
        }
        EditKind::AddOverride | EditKind::AddHidingMethod | EditKind::AddOverload => {
            let one = a_type(program, rng, |one| one.superclass.is_some())?;
            let is_static = kind == EditKind::AddHidingMethod;
            let inherited = before.methods_of(one.superclass?, is_static);
            let mut method = (*rng.choice(inherited)?).clone();
            if kind == EditKind::AddOverload {
                method.parameter = generate::method("", is_static, rng).parameter;
            }
            method.without_fuel = number;
            let mut member = Member::Method(method);
            generate::fill(&before, one.id, &mut member, rng);
            one.members.push(member);
        }
        EditKind::MoveUp => {
            let one = a_type(program, rng, |one| one.superclass.is_some())?;
            let is_method = |member: &Member| matches!(member, Member::Method(_));
            let at = one.members.iter().position(is_method)?;
            let (member, above) = (one.members.remove(at), one.superclass);
            let above = program.types.iter_mut().find(|up| Some(up.id) == above)?;
            above.members.push(member);
        }
        EditKind::FieldValue | EditKind::FieldFinality => {
            let one = a_type(program, rng, |one| one.fields().next().is_some())?;
            let fields = one.members.iter_mut().filter_map(|member| match member {
                Member::Field(field) => Some(field),
                _ => None,
            });
            let field = rng.choice(fields.collect::<Vec<_>>())?;
            match (kind, &mut field.value) {
                (EditKind::FieldFinality, _) => field.is_final ^= true,
                (_, Value::Number(n) | Value::Computed(n)) => *n = number,
                (_, value) => *value = Value::Computed(number),
            }
        }
        EditKind::Access => {
            let one = a_type(program, rng, |one| one.methods().next().is_some())?;
            let methods = one.members.iter_mut().filter_map(|member| match member {
                Member::Method(method) => Some(method),
                _ => None,
            });
            let method = rng.choice(methods.collect::<Vec<_>>())?;
            method.access = rng.choice([Access::Public, Access::Package, Access::Private])?;
        }
        EditKind::Superclass => {
            let one = a_type(program, rng, |_| true)?;
            one.superclass = generate::superclass(&before, one.kind, one.id, rng);
        }
        EditKind::AddInterface => {
            let one = a_type(program, rng, |one| one.kind != Kind::Exception)?;
            let fits = |other: &&Type| {
                other.kind == Kind::Interface
                    && other.id < one.id
                    && !one.interfaces.contains(&other.id)
            };
            let all: Vec<&Type> = before.types.iter().filter(fits).collect();
            one.interfaces.push(rng.choice(all)?.id);
        }
        EditKind::RemoveInterface => {
            let one = a_type(program, rng, |one| !one.interfaces.is_empty())?;
            one.interfaces.remove(rng.usize(..one.interfaces.len()));
        }
        EditKind::Mark => {
            let one = a_type(program, rng, |_| true)?;
            one.mark = match one.mark {
                Some(_) if rng.bool() => None,
                _ => Some(number),
            };
        }
        EditKind::Serializable => {
            let one = a_type(program, rng, |one| one.kind == Kind::Class)?;
            one.serializable ^= true;
        }
        EditKind::Special => {
            let one = a_type(program, rng, |one| one.kind == Kind::Class)?;
            let special = rng.choice([Special::ToString, Special::Equals, Special::Compare])?;
            one.members
                .retain(|m| !matches!(m, Member::Special(s, _) if *s == special));
            one.members.push(Member::Special(special, number));
        }
        EditKind::EnumOrder => {
            let one = a_type(program, rng, |one| one.kind == Kind::Enum)?;
            one.constants.swap(0, 1);
        }
        EditKind::EnumConstant => {
            let one = a_type(program, rng, |one| one.kind == Kind::Enum)?;
            one.constants.insert(rng.usize(..2), "D".into());
        }
        EditKind::AddType => {
            // One of those that programs look for in vain.
            let name = format!("Late{}.java", rng.u8(..2));
            let text = format!(
                "package {}; class {} {{}}\n",
                program.package,
                name.trim_end_matches(".java")
            );
            program.resources.insert(name, text);
        }
        EditKind::DeleteType => {
            let at = rng.usize(..program.types.len());
            program.types.remove(at);
        }
        EditKind::SpareConstructor => {
            let one = a_type(program, rng, |one| {
                matches!(one.kind, Kind::Class | Kind::Abstract | Kind::Exception)
            })?;
            one.members.push(Member::SpareConstructor);
        }
        EditKind::ChangeResource => {
            let all = program.resources.values_mut().collect::<Vec<_>>();
            rng.choice(all)?.push('1');
        }
        EditKind::AddResource => {
            program
                .resources
                .insert("r2.txt".into(), number.to_string());
        }
        EditKind::DeleteResource => {
            program.resources.pop_first()?;
        }
        EditKind::ChangeFile => {
            let all = program.files.values_mut().collect::<Vec<_>>();
            rng.choice(all)?.push('1');
        }
        EditKind::AddFile => {
            program.files.insert("f2.txt".into(), number.to_string());
        }
        EditKind::DeleteFile => {
            program.files.pop_first()?;
        }
        EditKind::Neutral => neutral(program, rng),
    }
    Some(())
}

fn a_type<'a>(
    program: &'a mut Program,
    rng: &mut Rng,
    fits: impl Fn(&Type) -> bool,
) -> Option<&'a mut Type> {
    let all: Vec<&mut Type> = program.types.iter_mut().filter(|one| fits(one)).collect();
    rng.choice(all)
}

fn edit_body(program: &mut Program, kind: EditKind, rng: &mut Rng) -> Option<()> {
    let before = program.clone();
    let all = before.types.iter().map(|one| one.id + 1).max()?;
    let (body, below) = a_body(program, all, rng)?;
    let at = rng.usize(..=body.len().saturating_sub(1));
    match kind {
        EditKind::InsertStatement => {
            body.insert(at.min(body.len()), generate::statement(&before, below, rng));
        }
        EditKind::Fail => body.insert(at.min(body.len()), Statement::Fail),
        _ if body.is_empty() => return None,
        EditKind::DeleteStatement => {
            body.remove(at);
        }
        EditKind::SwapStatements => {
            let other = rng.usize(..body.len());
            body.swap(at, other);
        }
        EditKind::Number => match &mut body[at] {
            Statement::Number(n)
            | Statement::Lambda(_, _, n)
            | Statement::Catch(_, _, _, n)
            | Statement::Anonymous(_, _, n)
            | Statement::If(n, _)
            | Statement::Text(_, n)
            | Statement::InstanceOf(_, _, n) => *n += 1001,
            _ => return None,
        },
        _ => body[at] = generate::statement(&before, below, rng),
    }
    Some(())
}

/// A body, and below which number the types lie that it may name.
fn a_body<'a>(
    program: &'a mut Program,
    all: TypeId,
    rng: &mut Rng,
) -> Option<(&'a mut Body, TypeId)> {
    let mut bodies = Vec::new();
    for one in &mut program.types {
        let id = one.id;
        for member in &mut one.members {
            match member {
                Member::Method(method) => {
                    let below = if method.is_static { id } else { all };
                    bodies.push((&mut method.body, below));
                }
                Member::Constructor(body)
                | Member::Initializer { body, .. }
                | Member::Nested { body, .. } => bodies.push((body, id)),
                _ => {}
            }
        }
    }
    for test in &mut program.tests {
        bodies.extend(test.methods.iter_mut().map(|body| (body, all)));
    }
    rng.choice(bodies)
}

/// Changes the look of the whole program and nothing else.
fn neutral(program: &mut Program, rng: &mut Rng) {
    for one in &mut program.types {
        // The compiler numbers lambdas and anonymous classes as it meets them,
        // and their numbers are part of names.
        let ordered = format!("{:?}", one.members);
        let numbered = [
            "Lambda",
            "Anonymous",
            "Thread",
            "Proxy",
            "Switch",
            "MethodRef",
        ];
        one.style = Style {
            comments: rng.bool(),
            blank_lines: rng.usize(1..5),
            other_names: rng.bool(),
            methods_reversed: rng.bool() && !numbered.iter().any(|word| ordered.contains(word)),
            parentheses: rng.bool(),
        };
    }
    for test in &mut program.tests {
        test.style.blank_lines = rng.usize(1..5);
        test.style.comments = rng.bool();
    }
}
