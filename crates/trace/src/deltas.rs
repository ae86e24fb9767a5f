//! Sorted numbers as differences: most fit into one byte.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub(crate) fn serialize<S: Serializer>(sorted: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let mut previous = 0;
    let deltas: Vec<u32> = sorted
        .iter()
        .map(|&value| {
            debug_assert!(value >= previous, "numbers are sorted");
            let delta = value.wrapping_sub(previous);
            previous = value;
            delta
        })
        .collect();
    deltas.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u32>, D::Error> {
    let mut values = Vec::<u32>::deserialize(deserializer)?;
    let mut previous = 0_u32;
    for value in &mut values {
        previous = previous
            .checked_add(*value)
            .ok_or_else(|| de::Error::custom("numbers run past 32 bits"))?;
        *value = previous;
    }
    Ok(values)
}
