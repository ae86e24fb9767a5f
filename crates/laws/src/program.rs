//! Small Java programs as values: what a generator makes and an edit changes.
//!
//! Every method takes fuel, calls others with less of it, and returns a number,
//! so every program ends. References are by number and need not be right: the
//! compiler says what is a program and what is not.

use std::collections::BTreeMap;

/// The number of a type within its program.
pub type TypeId = usize;

/// A package with types, tests, resources and files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub package: String,
    pub types: Vec<Type>,
    pub tests: Vec<Test>,
    /// By name, beside the classes.
    pub resources: BTreeMap<String, String>,
    /// By name, in a directory of the program's own.
    pub files: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Class,
    Abstract,
    Interface,
    Enum,
    Exception,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub id: TypeId,
    pub kind: Kind,
    pub superclass: Option<TypeId>,
    pub interfaces: Vec<TypeId>,
    /// The value of an annotation that the program can look at.
    pub mark: Option<i32>,
    pub serializable: bool,
    /// The constants of an enum.
    pub constants: Vec<String>,
    pub members: Vec<Member>,
    pub style: Style,
}

/// What a compiler does not see, or forgets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a look of its own")]
pub struct Style {
    pub comments: bool,
    pub blank_lines: usize,
    /// Local variables and parameters have other names.
    pub other_names: bool,
    pub methods_reversed: bool,
    pub parentheses: bool,
}

/// The parameter of a method: overloads differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    Int,
    Long,
    Boxed,
    Object,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    Field(Field),
    Method(Method),
    Constructor(Body),
    /// A static initializer that sets a field.
    Initializer {
        field: String,
        body: Body,
    },
    Special(Special, i32),
    /// A nested class with one static method.
    Nested {
        name: String,
        body: Body,
    },
    /// A lazily made instance in a static field.
    Memo,
    /// A constructor that nobody calls.
    SpareConstructor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub is_static: bool,
    pub is_final: bool,
    pub value: Value,
}

/// What a field starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(i32),
    /// A number that the compiler does not copy to whoever reads it.
    Computed(i32),
    Field(TypeId, String),
    Call(TypeId, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub name: String,
    pub parameter: Parameter,
    pub is_static: bool,
    pub access: Access,
    /// What it returns without fuel.
    pub without_fuel: i32,
    pub body: Body,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Public,
    Package,
    Private,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    ToString,
    Equals,
    Compare,
}

pub type Body = Vec<Statement>;

/// Each changes the number `a` in some way that depends on other code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Number(i32),
    StaticCall(TypeId, String),
    /// A method of an instance, called by one of its types.
    Virtual(TypeId, TypeId, String),
    StaticField(TypeId, String),
    InstanceField(TypeId, String),
    InstanceOf(TypeId, TypeId, i32),
    Cast(TypeId, TypeId, String, i32),
    Catch(TypeId, String, TypeId, i32),
    Throw(TypeId, i32),
    Lambda(TypeId, String, i32),
    MethodReference(TypeId, String),
    Reflect(Reflection, TypeId, i32),
    /// The same for a class that need not be there.
    FindClass(String, i32),
    Handle(TypeId, String, i32),
    Resource(String, i32),
    File(String, i32),
    Listing(i32),
    Enum(EnumUse, TypeId, i32),
    Anonymous(TypeId, String, i32),
    Equality(TypeId, i32),
    Text(TypeId, i32),
    Compare(TypeId, i32),
    Super(String),
    Thread(TypeId, String),
    Memo(TypeId, String),
    Write(TypeId, String),
    Serial(TypeId, i32),
    Proxy(TypeId, String, i32),
    Nested(TypeId, String),
    If(i32, Vec<Statement>),
    /// Ends the test badly.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflection {
    Methods,
    Fields,
    Constructors,
    Modifiers,
    Superclass,
    Interfaces,
    Mark,
    Invoke,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumUse {
    Count,
    Place,
    Switch,
    Method,
}

/// A test class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    /// Runs before each of the methods.
    pub setup: Body,
    pub methods: Vec<Body>,
    pub style: Style,
}

impl Program {
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.types.iter().find(|one| one.id == id)
    }

    /// The names of the test classes, in their order.
    pub fn test_names(&self) -> Vec<String> {
        let name = |test: &Test| format!("{}.{}", self.package, test.name);
        self.tests.iter().map(name).collect()
    }

    /// The superclasses of a type, nearest first, and itself before them.
    pub fn line(&self, id: TypeId) -> Vec<&Type> {
        let mut line = Vec::new();
        let mut next = Some(id);
        while let Some(one) = next.and_then(|id| self.get(id)) {
            line.push(one);
            next = one.superclass.filter(|_| line.len() < 20);
        }
        line
    }

    /// All types that a type is, itself first.
    pub fn types_of(&self, id: TypeId) -> Vec<TypeId> {
        let mut found = vec![];
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if let Some(one) = self.get(id)
                && !found.contains(&id)
            {
                found.push(id);
                pending.extend(one.superclass);
                pending.extend(&one.interfaces);
            }
        }
        found
    }

    /// The methods that can be called on a type.
    pub fn methods_of(&self, id: TypeId, is_static: bool) -> Vec<&Method> {
        let types: Vec<TypeId> = if is_static {
            self.line(id).iter().map(|one| one.id).collect()
        } else {
            self.types_of(id)
        };
        types
            .iter()
            .filter_map(|id| self.get(*id))
            .flat_map(Type::methods)
            .filter(|method| method.is_static == is_static && method.access != Access::Private)
            .collect()
    }

    /// The fields that can be read through a type.
    pub fn fields_of(&self, id: TypeId, is_static: bool) -> Vec<&Field> {
        let line = self.line(id).into_iter();
        line.flat_map(|one| &one.members)
            .filter_map(|member| match member {
                Member::Field(field) if field.is_static == is_static => Some(field),
                _ => None,
            })
            .collect()
    }

    /// All bodies, those of tests last.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        let members = self.types.iter_mut().flat_map(|one| &mut one.members);
        let of_members = members.filter_map(|member| match member {
            Member::Method(method) => Some(&mut method.body),
            Member::Constructor(body)
            | Member::Initializer { body, .. }
            | Member::Nested { body, .. } => Some(body),
            _ => None,
        });
        let tests = self.tests.iter_mut();
        let of_tests = tests.flat_map(|test| test.methods.iter_mut().chain([&mut test.setup]));
        of_members.chain(of_tests).collect()
    }
}

impl Type {
    pub fn name(&self) -> String {
        let letter = match self.kind {
            Kind::Class | Kind::Abstract => 'C',
            Kind::Interface => 'I',
            Kind::Enum => 'E',
            Kind::Exception => 'X',
        };
        format!("{letter}{}", self.id)
    }

    pub fn methods(&self) -> impl Iterator<Item = &Method> {
        self.members.iter().filter_map(|member| match member {
            Member::Method(method) => Some(method),
            _ => None,
        })
    }

    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.members.iter().filter_map(|member| match member {
            Member::Field(field) => Some(field),
            _ => None,
        })
    }

    pub fn has(&self, special: Special) -> bool {
        self.members
            .iter()
            .any(|member| matches!(member, Member::Special(one, _) if *one == special))
    }
}
