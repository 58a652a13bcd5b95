//! Tables of a report as HTML.

use std::fmt::Write as _;

use figure::svg::escaped;

pub(crate) fn html_table<'a>(head: impl IntoIterator<Item = (&'a str, &'a str)>, rows: &[Vec<String>]) -> String {
    let mut html = "<div class=\"wide\"><table><tr>".to_owned();
    for (head, note) in head {
        let note = if note.is_empty() { String::new() } else { format!(" title=\"{}\"", escaped(note)) };
        let _ = write!(html, "<th{note}>{}</th>", escaped(head));
    }
    for row in rows {
        html += "</tr>\n<tr>";
        html.extend(row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))));
    }
    html + "</tr>\n</table></div>\n"
}

pub(crate) fn heads<'a>(heads: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    heads.iter().map(|head| (*head, ""))
}
