//! Dates of the Gregorian calendar, from the days and seconds since 1970.

/// The date `days` days after 1970-01-01, as `2024-02-29`.
pub(crate) fn date(days: u64) -> String {
    // Counted from a first of March, the day that is added in a leap year is the last one of its year, and every
    // 400 years have the same number of days.
    let days = days.saturating_add(719_468);
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months in a row always have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (400 * cycle + year, month + 3),
        _ => (400 * cycle + year + 1, month - 9),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

/// The time `seconds` seconds after the beginning of 1970 in UTC, without its time zone: `2024-02-29T23:59:59`.
///
/// ```
/// assert_eq!(wiremend_schema::date_time(951_782_399), "2000-02-28T23:59:59");
/// ```
#[must_use]
pub fn date_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}", date(days))
}

#[cfg(test)]
mod tests {
    use super::{date, date_time};

    /// The next day, by the lengths of months.
    fn after((year, month, day): (u64, u64, u64)) -> (u64, u64, u64) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        match (month, day) {
            (_, day) if day < length => (year, month, day + 1),
            (12, _) => (year + 1, 1, 1),
            _ => (year, month + 1, 1),
        }
    }

    #[test]
    fn each_day_follows_the_one_before_it() {
        let mut day = (1970, 1, 1);
        for number in 0..200_000 {
            let (year, month, of_month) = day;
            assert_eq!(date(number), format!("{year:04}-{month:02}-{of_month:02}"));
            day = after(day);
        }
        assert!(!date(u64::MAX).is_empty() && !date_time(u64::MAX).is_empty());
    }
}
