//! How are the parameters of a `Content-Type` field parsed (RFC 9110, sections 5.6 and 8.3.1)?
//!
//! ```text
//! media-type    = type "/" subtype *( OWS ";" OWS [ token "=" ( token / quoted-string ) ] )
//! quoted-string = DQUOTE *( qdtext / "\" ( HTAB / SP / VCHAR / obs-text ) ) DQUOTE
//! ```

use std::borrow::Cow;

/// The field does not follow the grammar from this byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) at: usize,
}

/// The parameters of a media type, in order.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    field: &'a [u8],
    /// The type and the subtype.
    pub(super) media_type: (&'a [u8], &'a [u8]),
    /// Invariant: at most the length of `field`. All bytes before it follow the grammar.
    at: usize,
}

/// A name as written, and a value without quotes.
pub(super) type Parameter<'a> = (&'a [u8], Cow<'a, [u8]>);

impl<'a> Parameters<'a> {
    /// Parses the media type, and stops before the parameters.
    pub(super) fn of(field: &'a [u8]) -> Result<Self, Malformed> {
        let mut parameters = Self { field, media_type: (b"", b""), at: 0 };
        parameters.skip_whitespace();
        let main = parameters.token()?;
        parameters.require(b'/')?;
        parameters.media_type = (main, parameters.token()?);
        Ok(parameters)
    }

    pub(super) fn next(&mut self) -> Result<Option<Parameter<'a>>, Malformed> {
        loop {
            self.skip_whitespace();
            if self.at == self.field.len() {
                return Ok(None);
            }
            self.require(b';')?;
            self.skip_whitespace();
            if !matches!(self.peek(), None | Some(b';')) {
                break;
            }
        }
        let name = self.token()?;
        self.require(b'=')?;
        let value = match self.peek() {
            Some(b'"') => self.quoted_string()?,
            _ => Cow::Borrowed(self.token()?),
        };
        Ok(Some((name, value)))
    }

    fn peek(&self) -> Option<u8> {
        self.field.get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn require(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed { at: self.at });
        }
        self.at += 1;
        Ok(())
    }

    fn token(&mut self) -> Result<&'a [u8], Malformed> {
        let rest = &self.field[self.at..];
        let len = rest.iter().position(|&byte| !is_token(byte)).unwrap_or(rest.len());
        if len == 0 {
            return Err(Malformed { at: self.at });
        }
        self.at += len;
        Ok(&rest[..len])
    }

    fn quoted_string(&mut self) -> Result<Cow<'a, [u8]>, Malformed> {
        self.require(b'"')?;
        let start = self.at;
        let mut unescaped: Option<Vec<u8>> = None;
        loop {
            let byte = match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    unescaped.get_or_insert_with(|| self.field[start..self.at].to_vec());
                    self.at += 1;
                    self.peek()
                }
                byte => byte,
            };
            match byte {
                Some(byte @ (b'\t' | b' '..=b'~' | 0x80..)) => {
                    unescaped.iter_mut().for_each(|value| value.push(byte))
                }
                _ => return Err(Malformed { at: self.at }),
            }
            self.at += 1;
        }
        let value = match unescaped {
            Some(value) => Cow::Owned(value),
            None => Cow::Borrowed(&self.field[start..self.at]),
        };
        self.require(b'"')?;
        Ok(value)
    }
}

/// Returns the field with `charset=utf-8` instead of its charset. The other parameters are unchanged.
#[cfg(any(feature = "tower", test))]
pub(super) fn in_utf8(field: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut parameters = Parameters::of(field)?;
    let mut changed = field[..parameters.at].trim_ascii_start().to_vec();
    loop {
        let start = parameters.at;
        let Some((name, _)) = parameters.next()? else { break };
        if !name.eq_ignore_ascii_case(b"charset") {
            changed.extend_from_slice(&field[start..parameters.at]);
        }
    }
    changed.extend_from_slice(b"; charset=utf-8");
    Ok(changed)
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(field: &[u8]) -> Result<Vec<(String, String)>, usize> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut parameters = Parameters::of(field).map_err(|error| error.at)?;
        let mut found = Vec::new();
        while let Some((name, value)) = parameters.next().map_err(|error| error.at)? {
            found.push((text(name), text(&value)));
        }
        Ok(found)
    }

    fn pairs(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, usize> {
        Ok(pairs.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect())
    }

    #[test]
    fn parameters_are_tokens_or_quoted_strings() {
        assert_eq!(all(b"text/plain"), pairs(&[]));
        assert_eq!(all(b" text/plain \t"), pairs(&[]));
        assert_eq!(all(b"text/plain;charset=UTF-8"), pairs(&[("charset", "UTF-8")]));
        assert_eq!(all(b"a/b \t; \tc=d ;E=f"), pairs(&[("c", "d"), ("E", "f")]));
        assert_eq!(all(b"a/b;;c=d; ;"), pairs(&[("c", "d")]));
        assert_eq!(all(br#"a/b;c="d e";f="""#), pairs(&[("c", "d e"), ("f", "")]));
        assert_eq!(all(br#"a/b;c="\d\"\\;\ ";e=f"#), pairs(&[("c", r#"d"\; "#), ("e", "f")]));
        assert_eq!(all(b"a/b;c=\"\xE9\\\xE9\""), pairs(&[("c", "\u{FFFD}\u{FFFD}")]));
        assert_eq!(all(b"application/vnd.x+json;v=1.0"), pairs(&[("v", "1.0")]));
    }

    #[test]
    fn the_charset_of_a_field_is_replaced() {
        let table: [(&[u8], &[u8]); 4] = [
            (b" text/html", b"text/html; charset=utf-8"),
            (b"text/html;Charset=latin1", b"text/html; charset=utf-8"),
            (b"a/b; q=\"1;\\\"\" ; charset=\"x\";f=g;", b"a/b; q=\"1;\\\"\";f=g; charset=utf-8"),
            (b"a/b;charset=x;charset=y", b"a/b; charset=utf-8"),
        ];
        for (field, changed) in table {
            assert_eq!(in_utf8(field).unwrap(), changed, "{}", field.escape_ascii());
        }
        assert_eq!(in_utf8(b"a/b;c").unwrap_err(), Malformed { at: 5 });
    }

    #[test]
    fn malformed_fields_report_their_offset() {
        let table: [(&[u8], usize); 19] = [
            (b"", 0),
            (b"text", 4),
            (b"text/", 5),
            (b"/plain", 0),
            (b"text /plain", 4),
            (b"text/plain charset=x", 11),
            (b"text/plain, text/html", 10),
            (b"a/b;c", 5),
            (b"a/b;c=", 6),
            (b"a/b;=d", 4),
            (b"a/b;c =d", 5),
            (b"a/b;c= d", 6),
            (b"a/b;c=d e", 8),
            (b"a/b;c=\"d", 8),
            (b"a/b;c=\"d\\", 9),
            (b"a/b;c=\"\x07\"", 7),
            (b"a/b;c=\"\\\x7F\"", 8),
            (b"a/b;c=\"d\"e", 9),
            (b"a/b;c=\xE9", 6),
        ];
        for (field, at) in table {
            assert_eq!(all(field), Err(at), "{:?}", String::from_utf8_lossy(field));
        }
    }
}
