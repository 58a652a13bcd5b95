//! Numbers as arrays of numpy.

use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::{Bound, PyResult, Python};

/// An array of two dimensions.
pub type Matrix<'py> = Bound<'py, PyArray2<f32>>;

/// Source words, target words, and what stands between them.
pub type Words<T> = (Vec<String>, Vec<String>, T);

/// Numbers as an array of numpy, which owns them from now on.
pub fn array(py: Python<'_>, numbers: Vec<f32>) -> Bound<'_, PyArray1<f32>> {
    PyArray1::from_vec(py, numbers)
}

/// Rows of equal length as an array of two dimensions: the one copy that is made of them.
pub fn matrix<'py>(py: Python<'py>, rows: &[Vec<f32>]) -> PyResult<Matrix<'py>> {
    let columns = rows.first().map_or(0, Vec::len);
    array(py, rows.concat()).reshape([rows.len(), columns])
}
