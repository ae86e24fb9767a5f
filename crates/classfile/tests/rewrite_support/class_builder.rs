//! Class files made by hand, byte by byte.

/// A class with one static method `m`.
pub(crate) struct ClassBuilder {
    pub(crate) major: u16,
    pub(crate) descriptor: &'static str,
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) code: Vec<u8>,
    /// Start, end, handler, and 0 for every exception.
    pub(crate) handlers: Vec<[u16; 4]>,
    /// Attributes of the code, by name.
    pub(crate) attributes: Vec<(&'static str, Vec<u8>)>,
    /// More constants, which start at [`Self::FIRST_EXTRA`].
    pub(crate) constants: Vec<Vec<u8>>,
}

impl Default for ClassBuilder {
    fn default() -> Self {
        Self {
            major: 52,
            descriptor: "()V",
            max_stack: 2,
            max_locals: 1,
            code: vec![0xB1], // return
            handlers: Vec::new(),
            attributes: Vec::new(),
            constants: Vec::new(),
        }
    }
}

impl ClassBuilder {
    /// Index of the first of `constants`.
    pub(crate) const FIRST_EXTRA: u16 = 8;

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut pool: Vec<Vec<u8>> = vec![
            utf8("p/A"),              // 1
            vec![7, 0, 1],            // 2: class p/A
            utf8("java/lang/Object"), // 3
            vec![7, 0, 3],            // 4: class Object
            utf8("m"),                // 5
            utf8(self.descriptor),    // 6
            utf8("Code"),             // 7
        ];
        pool.extend(self.constants.iter().cloned());
        let mut attributes = Vec::new();
        for (name, content) in &self.attributes {
            pool.push(utf8(name));
            attributes.extend(u16_bytes(pool.len()));
            attributes.extend((content.len() as u32).to_be_bytes());
            attributes.extend(content);
        }
        let mut code = Vec::new();
        code.extend(self.max_stack.to_be_bytes());
        code.extend(self.max_locals.to_be_bytes());
        code.extend((self.code.len() as u32).to_be_bytes());
        code.extend(&self.code);
        code.extend(u16_bytes(self.handlers.len()));
        code.extend(self.handlers.iter().flatten().flat_map(|v| v.to_be_bytes()));
        code.extend(u16_bytes(self.attributes.len()));
        code.extend(attributes);

        let mut class = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0];
        class.extend(self.major.to_be_bytes());
        class.extend(u16_bytes(pool.len() + 1));
        class.extend(pool.concat());
        // public super, p/A extends Object, no interfaces, no fields, one
        // method, which is public and static and has one attribute.
        for value in [0x21, 2, 4, 0, 0, 1, 9, 5, 6, 1, 7] {
            class.extend(u16_bytes(value));
        }
        class.extend((code.len() as u32).to_be_bytes());
        class.extend(code);
        class.extend([0, 0]);
        class
    }
}

pub(crate) fn utf8(text: &str) -> Vec<u8> {
    let mut constant = vec![1];
    constant.extend(u16_bytes(text.len()));
    constant.extend(text.as_bytes());
    constant
}

fn u16_bytes(value: usize) -> [u8; 2] {
    u16::try_from(value).unwrap().to_be_bytes()
}
