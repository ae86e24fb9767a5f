//! Numbers with their nouns.

/// `1 class`, `1,234 classes`.
pub fn counted(count: usize, singular: &str, plural: &str) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{} {noun}", grouped(count))
}

/// Digits in groups of three.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!(counted(1, "class", "classes"), "1 class");
        assert_eq!(counted(0, "class", "classes"), "0 classes");
        assert_eq!(counted(1_234_567, "class", "classes"), "1,234,567 classes");
        assert_eq!(grouped(999), "999");
    }
}
