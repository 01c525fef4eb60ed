//! Making a failing input smaller.

/// How many candidates are tried at most for one failure.
pub(crate) const TRIES: usize = 600;

/// The list without the items that are not needed for `fails`, which is true of the whole list.
/// Removes runs of items, long ones first. Every try costs one of `budget`.
pub(crate) fn list<T: Clone>(
    items: &[T],
    budget: &mut usize,
    mut fails: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut items = items.to_vec();
    let mut run = items.len();
    while run > 0 {
        let before = items.len();
        let mut at = 0;
        while at < items.len() {
            let Some(left) = budget.checked_sub(1) else { return items };
            *budget = left;
            let end = (at + run).min(items.len());
            let fewer = [&items[..at], &items[end..]].concat();
            if fails(&fewer) {
                items = fewer;
            } else {
                at = end;
            }
        }
        // Single items are tried again, because one may have needed another that is gone now.
        run = if run == 1 && items.len() < before { 1 } else { run / 2 };
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_goes() {
        let items: Vec<usize> = (0..100).collect();
        let small = list(&items, &mut 600, |items| items.contains(&7) && items.contains(&90));
        assert_eq!(small, [7, 90]);
        assert_eq!(list(&items, &mut 600, |items| items.len() > 3).len(), 4);
        assert_eq!(list(&items, &mut 600, |_| true), [0; 0]);
    }

    #[test]
    fn tries_are_bounded() {
        let mut tried = 0;
        list(&[0; 5000], &mut 100, |_| {
            tried += 1;
            false
        });
        assert_eq!(tried, 100);
    }
}
