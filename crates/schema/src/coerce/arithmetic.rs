//! Sums and products that the model wrote out instead of computing.

/// The longest expression that is evaluated, in bytes.
const LONGEST: usize = 100;

/// Evaluates an expression of numbers, `+ - * /` and parentheses; `None` for anything else. An
/// expression contains `*`, `/`, `+`, or a minus with a space around it, so `2024-01-05` and
/// `555-0100` are not expressions.
pub(super) fn value(text: &str) -> Option<String> {
    let signs = |c: char| "0123456789.+-*/() ".contains(c);
    let joins = text.contains(['*', '/'])
        || text.trim_start_matches('+').contains('+')
        || text.contains(" - ");
    if text.len() > LONGEST || !text.chars().all(signs) || !joins {
        return None;
    }
    let value = Term { bytes: text.as_bytes(), at: 0 }.evaluate()?;
    value.is_finite().then(|| value.to_string())
}

struct Term<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Term<'_> {
    /// Uses two stacks instead of recursion.
    fn evaluate(mut self) -> Option<f64> {
        let mut values: Vec<f64> = Vec::new();
        let mut signs: Vec<u8> = Vec::new();
        let mut wants_value = true;
        while let Some(byte) = self.next() {
            match (byte, wants_value) {
                (b'(', true) => signs.push(b'('),
                (b'-', true) => {
                    self.at -= 1;
                    values.push(self.number()?);
                    wants_value = false;
                }
                (b'0'..=b'9' | b'.', true) => {
                    self.at -= 1;
                    values.push(self.number()?);
                    wants_value = false;
                }
                (b')', false) => {
                    while *signs.last()? != b'(' {
                        apply(&mut values, signs.pop()?)?;
                    }
                    signs.pop();
                }
                (b'+' | b'-' | b'*' | b'/', false) => {
                    while signs.last().is_some_and(|last| rank(*last) >= rank(byte)) {
                        apply(&mut values, signs.pop()?)?;
                    }
                    signs.push(byte);
                    wants_value = true;
                }
                _ => return None,
            }
        }
        while let Some(sign) = signs.pop() {
            apply(&mut values, sign)?;
        }
        match (values.as_slice(), wants_value) {
            ([value], false) => Some(*value),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<u8> {
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn number(&mut self) -> Option<f64> {
        let rest = self.bytes.get(self.at..)?;
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let length = sign + rest.get(sign..)?.iter().take_while(digits).count();
        self.at += length;
        std::str::from_utf8(rest.get(..length)?).ok()?.parse().ok()
    }
}

fn rank(sign: u8) -> u8 {
    match sign {
        b'*' | b'/' => 2,
        b'+' | b'-' => 1,
        _ => 0,
    }
}

fn apply(values: &mut Vec<f64>, sign: u8) -> Option<()> {
    let (right, left) = (values.pop()?, values.pop()?);
    values.push(match sign {
        b'+' => left + right,
        b'-' => left - right,
        b'*' => left * right,
        b'/' if right != 0.0 => left / right,
        _ => return None,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn operators_have_precedence() {
        for (term, result) in [
            ("2*3.14159", "6.28318"),
            ("10/4", "2.5"),
            ("1 + 2 * 3", "7"),
            ("(1+2)*3", "9"),
            ("8 - 2 - 1", "5"),
            ("2*-3", "-6"),
            ("((2))*2", "4"),
        ] {
            assert_eq!(value(term).as_deref(), Some(result), "{term}");
        }
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in [
            "",
            "5",
            "+5",
            "-5",
            "1-2",
            "2024-01-05",
            "1/0",
            "2*",
            "*2",
            "(2*3",
            "2*3)",
            "2 3*4",
            "1..2*3",
            "a*b",
            "()",
            "(*)",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&"(".repeat(1_000)), None);
    }
}
