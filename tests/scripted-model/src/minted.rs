//! Ids in the vendor's form, different in every run: a transcript may outlive this process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// A new id: the prefix (`msg`, `toolu`, `req`), `_01` and 22 characters.
pub(crate) fn id(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static START: OnceLock<u128> = OnceLock::new();
    let start = *START.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.as_nanos() ^ (u128::from(std::process::id()) << 64)
    });
    let count = u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
    let mut rest = start.wrapping_add(count).wrapping_mul(0x0fc9_4e3b_f4e9_ab32_8664_58cd_56f5_e605);
    let mut text = format!("{prefix}_01");
    for _ in 0..22 {
        text.push(char::from(ALPHABET[(rest % 58) as usize]));
        rest /= 58;
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_have_the_form_and_differ() {
        let (one, two) = (super::id("toolu"), super::id("toolu"));
        assert_ne!(one, two);
        assert!(one.starts_with("toolu_01") && one.len() == 30 && one.is_ascii(), "{one}");
    }
}
