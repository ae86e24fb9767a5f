//! Random programs.
//!
//! Static initializers, constructors and static methods only name types of lower
//! numbers, and only tests write static fields. So no initializer waits for
//! itself, and what a test sees does not depend on which test came first, but
//! for the fields that tests write.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::program::{
    Access, Body, EnumUse, Field, Kind, Member, Method, Parameter, Program, Reflection, Special,
    Statement, Style, Test, Type, TypeId, Value,
};

/// A random program in a package of this name.
pub fn program(package: &str, rng: &mut Rng) -> Program {
    let mut program = Program {
        package: package.to_owned(),
        types: Vec::new(),
        tests: Vec::new(),
        resources: BTreeMap::new(),
        files: BTreeMap::new(),
    };
    for number in 0..2 {
        let text = rng.u32(..).to_string();
        program
            .resources
            .insert(format!("r{number}.txt"), text.clone());
        program.files.insert(format!("f{number}.txt"), text);
    }
    let count = rng.usize(4..=8);
    for id in 0..count {
        let one = a_type(&program, id, rng);
        program.types.push(one);
    }
    fill_bodies(&mut program, rng);
    for number in 0..rng.usize(2..=4) {
        let methods = (0..rng.usize(1..=2)).map(|_| test_body(&program, rng));
        let test = Test {
            name: format!("T{number}"),
            methods: methods.collect(),
            setup: if rng.u8(..4) == 0 {
                body(&program, count, rng)
            } else {
                Body::new()
            },
            style: Style::default(),
        };
        program.tests.push(test);
    }
    program
}

fn a_type(program: &Program, id: TypeId, rng: &mut Rng) -> Type {
    let kind = match rng.u8(..12) {
        _ if id == 0 => Kind::Class,
        0 | 1 => Kind::Interface,
        2 => Kind::Enum,
        3 => Kind::Exception,
        4 => Kind::Abstract,
        _ => Kind::Class,
    };
    let mut one = Type {
        id,
        kind,
        superclass: superclass(program, kind, id, rng),
        interfaces: interfaces(program, kind, id, rng),
        mark: (rng.u8(..4) == 0).then(|| rng.i32(1..100)),
        serializable: matches!(kind, Kind::Class) && rng.u8(..5) == 0,
        constants: Vec::new(),
        members: Vec::new(),
        style: Style::default(),
    };
    if kind == Kind::Enum {
        one.constants = ["A", "B", "C"].map(str::to_owned).to_vec();
        one.members.push(Member::Method(method("m0", false, rng)));
    }
    if kind == Kind::Exception {
        return one;
    }
    for _ in 0..rng.usize(2..=6) {
        if let Some(member) = member(program, &one, rng) {
            one.members.push(member);
        }
    }
    one
}

pub(crate) fn superclass(
    program: &Program,
    kind: Kind,
    below: TypeId,
    rng: &mut Rng,
) -> Option<TypeId> {
    let fits = |one: &&Type| match kind {
        Kind::Class | Kind::Abstract => matches!(one.kind, Kind::Class | Kind::Abstract),
        Kind::Exception => one.kind == Kind::Exception,
        Kind::Interface | Kind::Enum => false,
    };
    let lower = program.types.iter().filter(|one| one.id < below);
    let all: Vec<TypeId> = lower.filter(fits).map(|one| one.id).collect();
    if rng.u8(..3) == 0 {
        return None;
    }
    rng.choice(all)
}

pub(crate) fn interfaces(
    program: &Program,
    kind: Kind,
    below: TypeId,
    rng: &mut Rng,
) -> Vec<TypeId> {
    let lower = program.types.iter().filter(|one| one.id < below);
    let all = lower.filter(|one| one.kind == Kind::Interface && kind != Kind::Exception);
    all.map(|one| one.id)
        .filter(|_| rng.bool())
        .take(2)
        .collect()
}

/// A member that the type does not have yet.
pub(crate) fn member(program: &Program, one: &Type, rng: &mut Rng) -> Option<Member> {
    let is_class = matches!(one.kind, Kind::Class | Kind::Abstract);
    let member = match rng.u8(..16) {
        0..=3 => Member::Method(method(&format!("m{}", rng.u8(..3)), false, rng)),
        4..=6 => Member::Method(method(&format!("s{}", rng.u8(..3)), true, rng)),
        7 if is_class => field(program, one, "f", rng),
        8 | 9 => field(program, one, "c", rng),
        10 if is_class => Member::Field(Field {
            name: "v0".into(),
            is_static: true,
            is_final: false,
            value: Value::Number(rng.i32(1..100)),
        }),
        11 if is_class => Member::Constructor(Body::new()),
        12 if is_class => {
            let special = [Special::ToString, Special::Equals, Special::Compare];
            Member::Special(rng.choice(special)?, rng.i32(1..100))
        }
        13 => Member::Nested {
            name: "N0".into(),
            body: Body::new(),
        },
        14 if one.kind == Kind::Class => Member::Memo,
        15 if is_class => Member::Initializer {
            field: "v0".into(),
            body: Body::new(),
        },
        _ => return None,
    };
    let is_double = one.members.iter().any(|other| is_same(other, &member));
    let lacks_field = matches!(&member, Member::Initializer { field, .. }
        if !one.members.iter().any(|m| matches!(m, Member::Field(f) if f.name == *field)));
    // A comparable class has comparable subclasses, each by its own method.
    let inherits_compare = matches!(member, Member::Special(Special::Compare, _))
        && one.superclass.is_some_and(|above| {
            let line = program.line(above);
            line.iter().any(|up| up.has(Special::Compare))
        });
    (!is_double && !lacks_field && !inherits_compare).then_some(member)
}

/// Whether a class cannot have both.
fn is_same(one: &Member, other: &Member) -> bool {
    match (one, other) {
        (Member::Method(one), Member::Method(other)) => {
            one.name == other.name && one.parameter == other.parameter
        }
        (Member::Field(one), Member::Field(other)) => one.name == other.name,
        (Member::Special(one, _), Member::Special(other, _)) => one == other,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

pub(crate) fn method(name: &str, is_static: bool, rng: &mut Rng) -> Method {
    let parameter = match rng.u8(..12) {
        0 => Parameter::Long,
        1 => Parameter::Boxed,
        2 => Parameter::Object,
        _ => Parameter::Int,
    };
    Method {
        name: name.to_owned(),
        parameter,
        is_static,
        access: Access::Public,
        without_fuel: rng.i32(1..1000),
        body: Body::new(),
    }
}

fn field(program: &Program, one: &Type, letter: &str, rng: &mut Rng) -> Member {
    let is_static = letter == "c" || one.kind == Kind::Interface;
    let value = match rng.u8(..6) {
        0 | 1 => Value::Number(rng.i32(1..1000)),
        2 | 3 => Value::Computed(rng.i32(1..1000)),
        which => of_another(program, one.id, which == 4, rng)
            .unwrap_or_else(|| Value::Number(rng.i32(1..1000))),
    };
    Member::Field(Field {
        name: format!("{letter}{}", rng.u8(..2)),
        is_static,
        is_final: rng.bool(),
        value,
    })
}

/// A value that a static member of a lower type gives.
fn of_another(program: &Program, below: TypeId, call: bool, rng: &mut Rng) -> Option<Value> {
    let id = a_type_below(program, below, |_| true, rng)?;
    if call {
        let all = program.methods_of(id, true);
        return Some(Value::Call(id, rng.choice(all)?.name.clone()));
    }
    let all = program.fields_of(id, true);
    let never_written: Vec<&Field> = all.into_iter().filter(|f| f.name != "v0").collect();
    Some(Value::Field(id, rng.choice(never_written)?.name.clone()))
}

fn a_type_below(
    program: &Program,
    below: TypeId,
    fits: impl Fn(&Type) -> bool,
    rng: &mut Rng,
) -> Option<TypeId> {
    let lower = program
        .types
        .iter()
        .filter(|one| one.id < below && fits(one));
    rng.choice(lower.map(|one| one.id).collect::<Vec<_>>())
}

fn fill_bodies(program: &mut Program, rng: &mut Rng) {
    let whole = program.clone();
    for one in &mut program.types {
        let id = one.id;
        for member in &mut one.members {
            fill(&whole, id, member, rng);
        }
    }
}

/// Gives a member of a type a random body.
pub(crate) fn fill(program: &Program, id: TypeId, member: &mut Member, rng: &mut Rng) {
    let all = program
        .types
        .iter()
        .map(|one| one.id + 1)
        .max()
        .unwrap_or(0);
    match member {
        Member::Method(method) => {
            let below = if method.is_static { id } else { all };
            method.body = body(program, below, rng);
            let above = program.get(id).and_then(|one| one.superclass);
            let inherited = above
                .map(|up| program.methods_of(up, false))
                .unwrap_or_default();
            let name = inherited.iter().any(|up| up.name == method.name);
            if name && !method.is_static && rng.u8(..4) == 0 {
                method.body.push(Statement::Super(method.name.clone()));
            }
        }
        Member::Constructor(body_) => *body_ = body(program, id, rng),
        Member::Initializer { body: body_, .. } | Member::Nested { body: body_, .. } => {
            *body_ = body(program, id, rng);
        }
        _ => {}
    }
}

pub(crate) fn body(program: &Program, below: TypeId, rng: &mut Rng) -> Body {
    let count = rng.usize(1..=3);
    (0..count).map(|_| statement(program, below, rng)).collect()
}

fn test_body(program: &Program, rng: &mut Rng) -> Body {
    let all = program.types.len();
    let count = rng.usize(2..=5);
    let mut body: Body = (0..count).map(|_| statement(program, all, rng)).collect();
    let written = |one: &Type| {
        let fields = &mut one.members.iter();
        fields.any(|m| matches!(m, Member::Field(f) if f.name == "v0"))
    };
    if let Some(id) = a_type_below(program, all, written, rng)
        && rng.u8(..3) == 0
    {
        let statement = if rng.bool() {
            Statement::Write(id, "v0".into())
        } else {
            Statement::StaticField(id, "v0".into())
        };
        body.insert(rng.usize(..=body.len()), statement);
    }
    body
}

/// A random statement that names types below a number.
pub(crate) fn statement(program: &Program, below: TypeId, rng: &mut Rng) -> Statement {
    // Not every choice finds what it needs.
    for _ in 0..4 {
        if let Some(statement) = try_statement(program, below, rng) {
            return statement;
        }
    }
    Statement::Number(rng.i32(1..1000))
}

fn try_statement(program: &Program, below: TypeId, rng: &mut Rng) -> Option<Statement> {
    let n = rng.i32(1..1000);
    let any = |rng: &mut Rng| a_type_below(program, below, |_| true, rng);
    let class = |rng: &mut Rng| a_type_below(program, below, |one| one.kind == Kind::Class, rng);
    let of_kind =
        |kind: Kind, rng: &mut Rng| a_type_below(program, below, |one| one.kind == kind, rng);
    let static_method = |rng: &mut Rng| {
        let id = any(rng)?;
        let method = rng.choice(program.methods_of(id, true))?;
        Some((id, method.name.clone()))
    };
    let instance_method = |id: TypeId, rng: &mut Rng| {
        let method = rng.choice(program.methods_of(id, false))?;
        Some(method.name.clone())
    };
    Some(match rng.u8(..36) {
        0 | 1 => Statement::Number(n),
        2 | 3 => static_method(rng).map(|(t, m)| Statement::StaticCall(t, m))?,
        4..=6 => {
            let id = class(rng)?;
            let name = instance_method(id, rng)?;
            let has = |u: &TypeId| {
                let methods = program.methods_of(*u, false);
                methods.iter().any(|method| method.name == name)
            };
            let types: Vec<TypeId> = program.types_of(id).into_iter().filter(has).collect();
            Statement::Virtual(id, rng.choice(types)?, name)
        }
        7 | 8 => {
            let id = any(rng)?;
            let fields = program.fields_of(id, true);
            let never_written: Vec<_> = fields.into_iter().filter(|f| f.name != "v0").collect();
            Statement::StaticField(id, rng.choice(never_written)?.name.clone())
        }
        9 => {
            let id = class(rng)?;
            let field = rng.choice(program.fields_of(id, false))?;
            Statement::InstanceField(id, field.name.clone())
        }
        10 => Statement::InstanceOf(class(rng)?, any(rng)?, n),
        11 => {
            let id = any(rng)?;
            Statement::Cast(class(rng)?, id, instance_method(id, rng)?, n)
        }
        12 | 13 => {
            let (id, name) = static_method(rng)?;
            Statement::Catch(id, name, of_kind(Kind::Exception, rng)?, n)
        }
        14 => Statement::Throw(of_kind(Kind::Exception, rng)?, n),
        15 => static_method(rng).map(|(t, m)| Statement::Lambda(t, m, n))?,
        16 => static_method(rng).map(|(t, m)| Statement::MethodReference(t, m))?,
        17..=19 => {
            let what = [
                Reflection::Methods,
                Reflection::Fields,
                Reflection::Constructors,
                Reflection::Modifiers,
                Reflection::Superclass,
                Reflection::Interfaces,
                Reflection::Mark,
                Reflection::Invoke,
            ];
            Statement::Reflect(rng.choice(what)?, any(rng)?, n)
        }
        20 => Statement::FindClass(format!("Late{}", rng.u8(..2)), n),
        21 => Statement::Handle(any(rng)?, format!("s{}", rng.u8(..3)), n),
        22 => Statement::Resource(format!("r{}.txt", rng.u8(..3)), n),
        23 => Statement::File(format!("f{}.txt", rng.u8(..3)), n),
        24 => Statement::Listing(n),
        25 | 26 => {
            let what = [
                EnumUse::Count,
                EnumUse::Place,
                EnumUse::Switch,
                EnumUse::Method,
            ];
            Statement::Enum(rng.choice(what)?, of_kind(Kind::Enum, rng)?, n)
        }
        27 => {
            let id = class(rng)?;
            Statement::Anonymous(id, instance_method(id, rng)?, n)
        }
        28 => Statement::Equality(class(rng)?, n),
        29 => Statement::Text(class(rng)?, n),
        30 => Statement::Compare(class(rng)?, n),
        // A thread that needs a class waits for its initializer, which must not
        // wait for the thread: static code, of which initializers run some,
        // starts none.
        31 if below > program.types.iter().map(|one| one.id).max()? => {
            static_method(rng).map(|(t, m)| Statement::Thread(t, m))?
        }
        32 => {
            let has_memo = |one: &Type| one.members.contains(&Member::Memo);
            let id = a_type_below(program, below, has_memo, rng)?;
            let field = rng.choice(program.fields_of(id, false))?;
            Statement::Memo(id, field.name.clone())
        }
        33 => Statement::Serial(class(rng)?, n),
        34 => {
            let id = of_kind(Kind::Interface, rng)?;
            Statement::Proxy(id, instance_method(id, rng)?, n)
        }
        _ => {
            let then = (0..2).map(|_| statement(program, below, rng));
            Statement::If(n, then.collect())
        }
    })
}
