//! Programs as Java.

use std::fmt::Write;

use crate::program::{
    Access, EnumUse, Field, Kind, Member, Method, Parameter, Program, Reflection, Special,
    Statement, Style, Test, Type, TypeId, Value,
};
use crate::version::Files;

impl Program {
    /// The program's files: sources, resources and data.
    pub fn files(&self) -> Files {
        let package = &self.package;
        let mut files = Files::new();
        for one in &self.types {
            files.insert(
                format!("{package}/{}.java", one.name()),
                self.type_text(one),
            );
        }
        for test in &self.tests {
            files.insert(
                format!("{package}/{}.java", test.name),
                self.test_text(test),
            );
        }
        for (name, text) in &self.resources {
            files.insert(format!("{package}/{name}"), text.clone());
        }
        for (name, text) in &self.files {
            files.insert(format!("data/{package}/{name}"), text.clone());
        }
        files
    }

    fn name(&self, id: TypeId) -> String {
        // A type that is gone has a name that the compiler will not know.
        self.get(id).map_or_else(|| format!("Gone{id}"), Type::name)
    }

    fn type_text(&self, one: &Type) -> String {
        let mut out = format!("package {};\n", self.package);
        out.push_str(&"\n".repeat(one.style.blank_lines));
        if one.style.comments {
            out.push_str("/** A type. */\n");
        }
        if let Some(mark) = one.mark {
            let _ = writeln!(out, "@laws.Mark({mark})");
        }
        let _ = writeln!(out, "{} {{", self.heading(one));
        if one.kind == Kind::Enum {
            let _ = writeln!(out, "    {};", one.constants.join(", "));
        }
        if one.kind == Kind::Exception {
            out.push_str("    final int code;\n");
        }
        let (methods, others): (Vec<&Member>, Vec<&Member>) = one
            .members
            .iter()
            .partition(|member| matches!(member, Member::Method(_) | Member::Special(..)));
        for member in others {
            self.member(&mut out, one, member);
        }
        if !one
            .members
            .iter()
            .any(|m| matches!(m, Member::Constructor(_)))
        {
            self.constructor(&mut out, one, &[]);
        }
        let mut methods = methods;
        if one.style.methods_reversed {
            methods.reverse();
        }
        for member in methods {
            self.member(&mut out, one, member);
        }
        out.push_str("}\n");
        out
    }

    fn heading(&self, one: &Type) -> String {
        let (word, extends) = match one.kind {
            Kind::Class => ("public class", ""),
            Kind::Abstract => ("public abstract class", ""),
            Kind::Interface => ("public interface", ""),
            Kind::Enum => ("public enum", ""),
            Kind::Exception => ("public class", "RuntimeException"),
        };
        let mut text = format!("{word} {}", one.name());
        match one.superclass {
            Some(above) => text.extend([" extends ", &self.name(above)]),
            None if !extends.is_empty() => text.extend([" extends ", extends]),
            None => {}
        }
        let mut interfaces: Vec<String> = one.interfaces.iter().map(|&i| self.name(i)).collect();
        if one.serializable {
            interfaces.push("java.io.Serializable".into());
        }
        if one.has(Special::Compare) {
            interfaces.push("Comparable<Object>".into());
        }
        if !interfaces.is_empty() {
            let word = match one.kind {
                Kind::Interface => "extends",
                _ => "implements",
            };
            text.extend([" ", word, " ", &interfaces.join(", ")]);
        }
        text
    }

    fn member(&self, out: &mut String, one: &Type, member: &Member) {
        match member {
            Member::Field(field) => self.field(out, one, field),
            Member::Method(method) => self.method(out, one, method),
            Member::Constructor(body) => self.constructor(out, one, body),
            Member::Initializer { field, body } => {
                out.push_str("    static {\n        final int x = 1;\n        int a = 1;\n");
                self.body(out, &one.style, body, false);
                let _ = writeln!(out, "        {field} = a;\n    }}");
            }
            Member::Special(special, n) => {
                let text = match special {
                    Special::ToString => {
                        format!("public String toString() {{ return \"text{n}\"; }}")
                    }
                    Special::Equals => format!(
                        "public int hashCode() {{ return {n}; }}\n    \
                         public boolean equals(Object o) {{ return o != null \
                         && o.getClass() == getClass(); }}"
                    ),
                    Special::Compare => {
                        format!("public int compareTo(Object o) {{ return {n}; }}")
                    }
                };
                let _ = writeln!(out, "    {text}");
            }
            Member::Nested { name, body } => {
                let _ = writeln!(
                    out,
                    "    static class {name} {{\n    static int g(final int x) {{\n        \
                     if (x <= 0) return 3;\n        int a = x;"
                );
                self.body(out, &one.style, body, false);
                out.push_str("        return a;\n    }\n    }\n");
            }
            Member::Memo => {
                let name = one.name();
                let _ = writeln!(
                    out,
                    "    private static {name} memo;\n    static {name} memo() {{\n        \
                     if (memo == null) memo = new {name}(1);\n        return memo;\n    }}"
                );
            }
            Member::SpareConstructor => {
                let above = match (one.kind, one.superclass) {
                    (Kind::Exception, None) => "super(\"spare\"); this.code = 1;",
                    (Kind::Exception, Some(_)) => "super(1); this.code = 1;",
                    (_, Some(_)) => "super(0);",
                    _ => "",
                };
                let _ = writeln!(out, "    {}(String text) {{ {above} }}", one.name());
            }
        }
    }

    fn field(&self, out: &mut String, one: &Type, field: &Field) {
        let modifier = |is, word| if is { word } else { "" };
        let value = match &field.value {
            Value::Number(n) => n.to_string(),
            Value::Computed(n) => format!("Integer.parseInt(\"{n}\")"),
            Value::Field(id, name) => format!("{}.{name} + 1", self.name(*id)),
            Value::Call(id, name) => format!("{}.{name}(1)", self.name(*id)),
        };
        let in_interface = one.kind == Kind::Interface;
        let _ = writeln!(
            out,
            "    {}{}int {} = {value};",
            modifier(field.is_static && !in_interface, "static "),
            modifier(field.is_final && !in_interface, "final "),
            field.name
        );
    }

    fn method(&self, out: &mut String, one: &Type, method: &Method) {
        if one.style.comments {
            let _ = writeln!(out, "    // {} does something.", method.name);
        }
        let in_interface = one.kind == Kind::Interface;
        let access = match (method.access, in_interface) {
            (Access::Public, _) => "public ",
            (Access::Package, _) => "",
            (Access::Private, _) => "private ",
        };
        let word = match (method.is_static, in_interface) {
            (true, _) => "static ",
            (false, true) if method.access != Access::Private => "default ",
            (false, _) => "",
        };
        let (parameter, fuel) = match method.parameter {
            Parameter::Int => ("final int x", None),
            Parameter::Long => ("long w", Some("(int) w")),
            Parameter::Boxed => ("Integer w", Some("w")),
            Parameter::Object => ("Object w", Some("(Integer) w")),
        };
        let parameter = if one.style.other_names && fuel.is_none() {
            "final int fuel"
        } else {
            parameter
        };
        let _ = writeln!(out, "    {access}{word}int {}({parameter}) {{", method.name);
        if let Some(fuel) = fuel {
            let _ = writeln!(out, "        final int x = {fuel};");
        }
        let x = if one.style.other_names && fuel.is_none() {
            "fuel"
        } else {
            "x"
        };
        let a = if one.style.other_names { "sum" } else { "a" };
        let mut inner = String::new();
        let _ = writeln!(inner, "        if (x <= 0) return {};", method.without_fuel);
        let _ = writeln!(inner, "        int a = x;");
        self.body(&mut inner, &one.style, &method.body, true);
        inner.push_str("        return a;\n");
        out.push_str(&rename(&inner, x, a));
        out.push_str("    }\n");
    }

    fn constructor(&self, out: &mut String, one: &Type, body: &[Statement]) {
        let name = one.name();
        let (parameters, above) = match (one.kind, one.superclass) {
            (Kind::Interface | Kind::Enum, _) => return,
            (Kind::Exception, None) => ("final int x", "super(\"code \" + x); this.code = x;"),
            (Kind::Exception, Some(_)) => ("final int x", "super(x); this.code = x + 1;"),
            (_, Some(_)) => ("final int x", "super(x);"),
            (_, None) => ("final int x", ""),
        };
        let _ = writeln!(out, "    {name}({parameters}) {{ {above}");
        if !body.is_empty() {
            out.push_str("        if (x <= 0) return;\n        int a = 0;\n");
            self.body(out, &one.style, body, false);
        }
        out.push_str("    }\n");
    }

    fn test_text(&self, test: &Test) -> String {
        let mut out = format!("package {};\n", self.package);
        out.push_str(&"\n".repeat(test.style.blank_lines));
        let _ = writeln!(out, "public class {} extends laws.Observed {{", test.name);
        out.push_str("    int a = 1;\n    final int x = 3;\n");
        if !test.setup.is_empty() {
            out.push_str("    @org.junit.Before public void setUp() {\n");
            self.body(&mut out, &test.style, &test.setup, false);
            out.push_str("    }\n");
        }
        for (number, body) in test.methods.iter().enumerate() {
            let _ = writeln!(out, "    @org.junit.Test public void t{number}() {{");
            if test.style.comments {
                out.push_str("        // Looks at something.\n");
            }
            for statement in body {
                // One surprise must not hide what comes after it.
                out.push_str("        try {\n");
                self.statement(&mut out, statement);
                out.push_str(
                    "        } catch (RuntimeException | LinkageError e) {\n            \
                     see(e.getClass().getName());\n        }\n        see(a);\n",
                );
            }
            out.push_str("    }\n");
        }
        out.push_str("}\n");
        out
    }

    fn body(&self, out: &mut String, style: &Style, body: &[Statement], comments: bool) {
        for statement in body {
            if style.comments && comments {
                out.push_str("        // A step.\n");
            }
            if style.parentheses
                && let Statement::Number(n) = statement
            {
                let _ = writeln!(out, "        a = ((a * 31) + ({n}));");
            } else {
                self.statement(out, statement);
            }
        }
    }

    fn statement(&self, out: &mut String, statement: &Statement) {
        let _ = writeln!(out, "        {}", self.statement_text(statement));
    }

    fn statement_text(&self, statement: &Statement) -> String {
        let name = |id: &TypeId| self.name(*id);
        match statement {
            Statement::Number(n) => format!("a = a * 31 + {n};"),
            Statement::StaticCall(t, m) => format!("a += {}.{m}(x - 1);", name(t)),
            Statement::Virtual(t, u, m) => {
                format!("a += (({}) new {}(x - 1)).{m}(x - 1);", name(u), name(t))
            }
            Statement::StaticField(t, f) => format!("a += {}.{f};", name(t)),
            Statement::InstanceField(t, f) => format!("a += new {}(x - 1).{f};", name(t)),
            Statement::InstanceOf(t, u, n) => format!(
                "a += ((Object) new {}(x - 1)) instanceof {} ? {n} : 1;",
                name(t),
                name(u)
            ),
            Statement::Cast(t, u, m, n) => format!(
                "try {{ a += (({}) (Object) new {}(x - 1)).{m}(x - 1); }} \
                 catch (ClassCastException e) {{ a += {n}; }}",
                name(u),
                name(t)
            ),
            Statement::Catch(t, m, exception, n) => format!(
                "try {{ a += {}.{m}(x - 1); }} catch ({} e) {{ a += e.code + {n}; }}",
                name(t),
                name(exception)
            ),
            Statement::Throw(exception, n) => {
                format!("if (a % 3 == {}) throw new {}(x);", n % 3, name(exception))
            }
            Statement::Lambda(t, m, n) => format!(
                "{{ java.util.function.IntUnaryOperator l = y -> y * {n} + {}.{m}(x - 1); \
                 a += l.applyAsInt(2); }}",
                name(t)
            ),
            Statement::MethodReference(t, m) => format!(
                "{{ java.util.function.IntUnaryOperator l = {}::{m}; a += l.applyAsInt(x - 1); }}",
                name(t)
            ),
            Statement::Reflect(what, t, n) => self.reflection(*what, *t, *n),
            Statement::FindClass(class, n) => format!(
                "try {{ a += Class.forName({}).getName().length(); }} \
                 catch (ReflectiveOperationException e) {{ a += {n}; }}",
                hidden(&format!("{}.{class}", self.package))
            ),
            Statement::Handle(t, m, n) => format!(
                "try {{ a += (int) java.lang.invoke.MethodHandles.lookup().findStatic({}.class, \
                 \"{m}\", java.lang.invoke.MethodType.methodType(int.class, int.class))\
                 .invokeExact(x - 1); }} catch (NoSuchMethodException e) {{ a += {n}; }} \
                 catch (RuntimeException | Error e) {{ throw e; }} \
                 catch (Throwable e) {{ a += 5; }}",
                name(t)
            ),
            Statement::Resource(resource, n) => format!(
                "try (java.io.InputStream in = Class.forName(\"{}\")\
                 .getResourceAsStream(\"{resource}\")) {{ a += in == null ? {n} : \
                 java.util.Arrays.hashCode(in.readAllBytes()); }} \
                 catch (Exception e) {{ a += 3; }}",
                self.anchor()
            ),
            Statement::File(file, n) => format!(
                "try {{ java.nio.file.Path f = java.nio.file.Paths.get(\"data/{}/{file}\"); \
                 a += java.nio.file.Files.exists(f) ? \
                 java.util.Arrays.hashCode(java.nio.file.Files.readAllBytes(f)) : {n}; }} \
                 catch (java.io.IOException e) {{ a += 3; }}",
                self.package
            ),
            Statement::Listing(n) => format!(
                "{{ String[] names = new java.io.File(\"data/{}\").list(); \
                 a += names == null ? {n} : names.length; }}",
                self.package
            ),
            Statement::Enum(what, t, n) => enum_text(*what, &name(t), *n),
            Statement::Anonymous(t, m, n) => format!(
                "a += new {}(x - 1) {{ public int {m}(int y) {{ return y + {n}; }} }}.{m}(x - 1);",
                name(t)
            ),
            Statement::Equality(t, n) => format!(
                "a += new java.util.HashSet<Object>(java.util.Arrays.asList(\
                 new {0}(x - 1), new {0}(x - 1))).size() * {n};",
                name(t)
            ),
            Statement::Text(t, n) => format!(
                "{{ Object o = new {}(x - 1); String s = \"\" + o; \
                 a += s.startsWith(o.getClass().getName() + \"@\") ? {n} : s.hashCode(); }}",
                name(t)
            ),
            Statement::Compare(t, n) => format!(
                "{{ Object o = new {}(x - 1); \
                 a += o instanceof Comparable ? ((Comparable<Object>) o).compareTo(o) : {n}; }}",
                name(t)
            ),
            Statement::Super(m) => format!("a += super.{m}(x - 1);"),
            Statement::Thread(t, m) => format!(
                "{{ int[] r = {{ 7 }}; Thread h = new Thread(() -> {{ try {{ \
                 r[0] = {}.{m}(x - 1); }} catch (RuntimeException e) {{ r[0] = 9; }} }}); \
                 h.start(); try {{ h.join(); }} catch (InterruptedException e) {{ r[0] = 8; }} \
                 a += r[0]; }}",
                name(t)
            ),
            Statement::Memo(t, f) => format!("a += {}.memo().{f};", name(t)),
            Statement::Write(t, f) => format!("{0}.{f} = {0}.{f} * 7 + a;", name(t)),
            Statement::Serial(t, n) => format!(
                "{{ java.io.ObjectStreamClass c = java.io.ObjectStreamClass.lookup({}.class); \
                 a += c == null ? {n} : (int) c.getSerialVersionUID(); }}",
                name(t)
            ),
            Statement::Proxy(t, m, n) => format!(
                "a += (({0}) java.lang.reflect.Proxy.newProxyInstance({0}.class.getClassLoader(), \
                 new Class<?>[] {{ {0}.class }}, (p, m, as) -> \
                 m.getDeclaringClass().getMethods().length + {n})).{m}(x - 1);",
                name(t)
            ),
            Statement::Nested(t, n) => format!("a += {}.{n}.g(x - 1);", name(t)),
            Statement::If(n, then) => {
                let inner: Vec<String> = then.iter().map(|s| self.statement_text(s)).collect();
                format!("if (a % 2 == {}) {{ {} }}", n % 2, inner.join(" "))
            }
            Statement::Fail => "if (x > 0) throw new AssertionError(\"edited\");".into(),
        }
    }

    /// A class that is always there.
    fn anchor(&self) -> String {
        let test = self.tests.first().map_or("T0", |test| &test.name);
        format!("{}.{test}", self.package)
    }

    fn reflection(&self, what: Reflection, id: TypeId, n: i32) -> String {
        let class = format!("{}.{}", self.package, self.name(id));
        let look = match what {
            Reflection::Methods => "k.getDeclaredMethods().length".into(),
            Reflection::Fields => "k.getDeclaredFields().length".into(),
            Reflection::Constructors => "k.getDeclaredConstructors().length".into(),
            Reflection::Modifiers => "k.getModifiers()".into(),
            Reflection::Superclass => "k.getSuperclass().getName().hashCode()".into(),
            Reflection::Interfaces => "k.getInterfaces().length".into(),
            Reflection::Mark => "(k.isAnnotationPresent(laws.Mark.class) ? \
                k.getAnnotation(laws.Mark.class).value() : 2)"
                .into(),
            Reflection::Invoke => format!(
                "(Integer) k.getDeclaredMethod(\"s{}\", int.class).invoke(null, x - 1)",
                n % 3
            ),
        };
        // A thrown exception of the program comes wrapped.
        format!(
            "try {{ Class<?> k = Class.forName({}); a += {look}; }} \
             catch (ReflectiveOperationException e) {{ a += {n}; }}",
            hidden(&class)
        )
    }
}

fn enum_text(what: EnumUse, name: &str, n: i32) -> String {
    match what {
        EnumUse::Count => format!("a += {name}.values().length * {n};"),
        EnumUse::Place => format!("a += {name}.valueOf(\"A\").ordinal() * {n};"),
        EnumUse::Switch => format!(
            "switch ({name}.values()[0]) {{ case A: a += {n}; break; \
             case B: a += 2; break; default: a += 3; }}"
        ),
        EnumUse::Method => format!("a += {name}.A.m0(x - 1);"),
    }
}

/// A text that stands nowhere in the class file.
fn hidden(text: &str) -> String {
    let reversed: String = text.chars().rev().collect();
    format!("new StringBuilder(\"{reversed}\").reverse().toString()")
}

/// Gives the two variables of a method other names.
fn rename(text: &str, x: &str, a: &str) -> String {
    if (x, a) == ("x", "a") {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(match word.as_str() {
            "x" if !quoted => x,
            "a" if !quoted => a,
            other => other,
        });
        word.clear();
        quoted ^= c == '"';
        out.push(c);
    }
    out.pop();
    out
}
