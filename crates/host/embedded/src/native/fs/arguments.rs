use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rquickjs::{Ctx, Result, Type, Value};

use crate::host::Failure;
use crate::native::{errno, view};

/// One argument.
enum Argument {
    None,
    Number(f64),
    Flag(bool),
    Bytes(Vec<u8>),
}

/// What an operation was called with: taken in order. JavaScript has checked their types; what is of another type counts as
/// not given.
pub(in crate::native) struct Arguments {
    given: std::vec::IntoIter<Argument>,
}

impl Arguments {
    pub(super) fn new<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> Result<Self> {
        let given: Result<Vec<Argument>> = given.iter().map(|value| Argument::new(ctx, value)).collect();
        Ok(Self { given: given?.into_iter() })
    }

    pub(super) fn path(&mut self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.bytes()))
    }

    pub(super) fn bytes(&mut self) -> Vec<u8> {
        match self.given.next() {
            Some(Argument::Bytes(bytes)) => bytes,
            _ => Vec::new(),
        }
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        match self.given.next() {
            Some(Argument::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// A number that fits, or 0: it saturates.
    pub(super) fn int(&mut self) -> i32 {
        self.number().unwrap_or(0.0) as i32
    }

    /// An id of a user or group, or a mode: -1 stands for the highest.
    pub(super) fn id(&mut self) -> u32 {
        self.number().unwrap_or(0.0) as i64 as u32
    }

    pub(super) fn flag(&mut self) -> bool {
        matches!(self.given.next(), Some(Argument::Flag(true)))
    }

    /// A file: by its descriptor, or by its path.
    pub(super) fn file(&mut self) -> Place {
        match self.given.next() {
            Some(Argument::Number(fd)) => Place::Descriptor(fd as i32),
            Some(Argument::Bytes(path)) => Place::Path(PathBuf::from(OsString::from_vec(path))),
            _ => Place::Descriptor(-1),
        }
    }
}

/// Where a file is.
pub(super) enum Place {
    Descriptor(i32),
    Path(PathBuf),
}

impl Argument {
    fn new<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Self> {
        match value.type_of() {
            Type::Int | Type::Float => Ok(Self::Number(value.as_number().unwrap_or(0.0))),
            Type::Bool => Ok(Self::Flag(value.as_bool() == Some(true))),
            Type::BigInt => Ok(Self::Number(value.clone().into_big_int().map_or(Ok(0), |big| big.to_i64())? as f64)),
            Type::Undefined | Type::Null | Type::Uninitialized => Ok(Self::None),
            _ => Ok(Self::Bytes(view::copied(ctx, value)?)),
        }
    }
}

/// Names the call that failed and the path.
pub(super) fn at<T>(path: &Path, syscall: &'static str, done: std::io::Result<T>) -> std::result::Result<T, Failure> {
    done.map_err(|error| errno::failure(errno::number(&error), syscall, Some(shown(path)), None))
}

/// As [`at`], of a call with two paths.
pub(super) fn between<T>(
    one: &Path,
    other: &Path,
    syscall: &'static str,
    done: std::io::Result<T>,
) -> std::result::Result<T, Failure> {
    done.map_err(|error| errno::failure(errno::number(&error), syscall, Some(shown(one)), Some(shown(other))))
}

/// As [`at`], of a descriptor.
pub(super) fn of<T>(syscall: &'static str, done: std::io::Result<T>) -> std::result::Result<T, Failure> {
    done.map_err(|error| errno::failure(errno::number(&error), syscall, None, None))
}

fn shown(path: &Path) -> String {
    String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned()
}
