//! Floor 9: where the points of a scatter fall on the screen, as numbers. Any number of points becomes at most as
//! many dots as there are bins of a few points' side, so a hundred thousand draw as fast as a hundred.

/// Side of a bin, points.
pub const SIDE: f32 = 3.0;

/// What of the plane is on the screen, and how large it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// From left to right.
    pub x: [f32; 2],
    /// From bottom to top.
    pub y: [f32; 2],
    /// Width and height, points.
    pub size: [f32; 2],
}

impl View {
    /// Where a point falls, from the top left corner; outside the size where it is not in view.
    pub fn place(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let across = |value: f32, [from, to]: [f32; 2], size: f32| (value - from) / (to - from) * size;
        [across(x, self.x, self.size[0]), self.size[1] - across(y, self.y, self.size[1])]
    }

    fn bins(&self) -> (usize, usize) {
        let count = |size: f32| (size / SIDE).ceil().clamp(1.0, 4096.0) as usize;
        (count(self.size[0]), count(self.size[1]))
    }

    /// The bin of a point; `None` where it is not in view.
    fn bin(&self, point: [f32; 2]) -> Option<(usize, usize)> {
        let [left, top] = self.place(point);
        let (columns, rows) = self.bins();
        let inside = |at: f32, count: usize| {
            let bin = (at / SIDE).floor();
            (bin >= 0.0 && bin < count as f32).then_some(bin as usize)
        };
        Some((inside(left, columns)?, inside(top, rows)?))
    }
}

/// The points in view, sorted into bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    columns: usize,
    rows: usize,
    /// The points of bin b are `order[starts[b]..starts[b + 1]]`.
    starts: Vec<u32>,
    order: Vec<u32>,
    most: u32,
}

/// What is drawn of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Its middle, from the top left corner.
    pub at: [f32; 2],
    /// Points in it.
    pub count: u32,
}

impl Bins {
    /// Sorts the points with these indexes.
    pub fn new(points: &[[f32; 2]], chosen: impl Iterator<Item = u32>, view: &View) -> Self {
        let (columns, rows) = view.bins();
        let placed: Vec<(u32, u32)> = chosen
            .filter_map(|index| {
                let (column, row) = view.bin(points[index as usize])?;
                Some(((row * columns + column) as u32, index))
            })
            .collect();
        let mut starts = vec![0_u32; columns * rows + 1];
        for (bin, _) in &placed {
            starts[*bin as usize + 1] += 1;
        }
        let most = starts.iter().copied().max().unwrap_or(0);
        for bin in 0..columns * rows {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut order = vec![0; placed.len()];
        for (bin, index) in placed {
            order[next[bin as usize] as usize] = index;
            next[bin as usize] += 1;
        }
        Self { columns, rows, starts, order, most }
    }

    /// Points in view.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when no point is in view.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Most points of a bin.
    pub fn most(&self) -> u32 {
        self.most
    }

    fn bin(&self, bin: usize) -> &[u32] {
        &self.order[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// A dot for every bin that has points: a single one where it is, more in the middle of their bin.
    pub fn dots<'a>(&'a self, points: &'a [[f32; 2]], view: &'a View) -> impl Iterator<Item = Dot> + 'a {
        (0..self.columns * self.rows).filter_map(move |bin| {
            let inside = self.bin(bin);
            let at = match inside {
                [] => return None,
                [one] => view.place(points[*one as usize]),
                _ => [bin % self.columns, bin / self.columns].map(|place| (place as f32 + 0.5) * SIDE),
            };
            Some(Dot { at, count: inside.len() as u32 })
        })
    }

    /// The point nearest to a place on the screen, no farther than `reach`, and how many are that near in all.
    pub fn nearest(&self, points: &[[f32; 2]], view: &View, at: [f32; 2], reach: f32) -> Option<(usize, usize)> {
        let around = (reach / SIDE).ceil() as isize;
        let middle = at.map(|place| (place / SIDE).floor() as isize);
        let (mut best, mut near): (Option<(usize, f32)>, usize) = (None, 0);
        for row in (middle[1] - around).max(0)..=(middle[1] + around).min(self.rows as isize - 1) {
            for column in (middle[0] - around).max(0)..=(middle[0] + around).min(self.columns as isize - 1) {
                for index in self.bin(row as usize * self.columns + column as usize) {
                    let [x, y] = view.place(points[*index as usize]);
                    let distance = (x - at[0]).hypot(y - at[1]);
                    if distance > reach {
                        continue;
                    }
                    near += 1;
                    if best.is_none_or(|(_, least)| distance < least) {
                        best = Some((*index as usize, distance));
                    }
                }
            }
        }
        best.map(|(index, _)| (index, near))
    }
}
