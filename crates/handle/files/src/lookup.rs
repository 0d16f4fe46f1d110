use std::borrow::Cow;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use leat_message::Reason;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::beneath::{self, Root, Wait};
use crate::coding::{Acceptable, Coding};
use crate::path::RelativePath;
use crate::settings::Settings;
use crate::validators::Stamp;

/// What a path stands for.
#[derive(Debug)]
pub(crate) enum Found {
    /// A file to send.
    File(Representation),
    /// A directory that was asked for without its slash.
    Directory,
}

/// An open regular file: the one asked for, or its precompressed sibling.
#[derive(Debug)]
pub(crate) struct Representation {
    pub(crate) file: Arc<OwnedFd>,
    /// Length in bytes when it was opened; never more than that is sent.
    pub(crate) length: u64,
    pub(crate) stamp: Stamp,
    pub(crate) coding: Option<Coding>,
    /// The media type of the content without its coding.
    pub(crate) media_type: Cow<'static, str>,
}

/// Why there is nothing to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It takes a disk to know.
    MustWait,
    /// There is nothing, or nothing for this client.
    Refused(Reason),
}

impl From<Errno> for Miss {
    fn from(error: Errno) -> Self {
        Self::Refused(match error {
            Errno::AGAIN => return Self::MustWait,
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::NXIO => Reason::FileNotFound,
            Errno::ACCESS | Errno::PERM | Errno::XDEV | Errno::LOOP => Reason::FileForbidden,
            _ => Reason::FileFailed,
        })
    }
}

/// Finds what `path` stands for, and the best sibling of it for the client.
pub(crate) fn find(
    root: &Root,
    settings: &Settings,
    path: &RelativePath,
    acceptable: &Acceptable,
    wait: Wait,
) -> Result<Found, Miss> {
    let root = root.open(wait)?;
    if !path.is_directory() {
        return find_file(&root, path, acceptable, wait);
    }
    for name in &settings.index {
        match find_file(&root, &path.join(name), acceptable, wait) {
            Ok(Found::Directory) | Err(Miss::Refused(Reason::FileNotFound)) => {}
            other => return other,
        }
    }
    Err(Miss::Refused(Reason::FileNotFound))
}

fn find_file(root: &OwnedFd, path: &RelativePath, acceptable: &Acceptable, wait: Wait) -> Result<Found, Miss> {
    let file = beneath::open(root, path.as_bytes(), wait)?;
    let plain = match examine(file)? {
        Kind::Directory => return Ok(Found::Directory),
        // To the client a FIFO or a device is nothing.
        Kind::Special => return Err(Miss::Refused(Reason::FileNotFound)),
        Kind::Regular(opened) => opened,
    };
    let media_type = crate::media_type::of(path.extension());
    for coding in acceptable.before_identity() {
        match beneath::open(root, path.join(coding.suffix()).as_bytes(), wait) {
            Ok(file) => {
                if let Kind::Regular(sibling) = examine(file)? {
                    return Ok(Found::File(sibling.into_representation(Some(coding), media_type)));
                }
            }
            Err(Errno::AGAIN) => return Err(Miss::MustWait),
            // A sibling that is missing or may not be read is none.
            Err(_) => {}
        }
    }
    Ok(Found::File(plain.into_representation(None, media_type)))
}

enum Kind {
    Regular(Opened),
    Directory,
    Special,
}

struct Opened {
    file: OwnedFd,
    length: u64,
    stamp: Stamp,
}

impl Opened {
    fn into_representation(self, coding: Option<Coding>, media_type: Cow<'static, str>) -> Representation {
        Representation { file: Arc::new(self.file), length: self.length, stamp: self.stamp, coding, media_type }
    }
}

fn examine(file: OwnedFd) -> Result<Kind, Miss> {
    let stat = fstat(file.as_fd())?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let length = u64::try_from(stat.st_size).unwrap_or_default();
            Kind::Regular(Opened { file, length, stamp: Stamp::of(&stat) })
        }
        FileType::Directory => Kind::Directory,
        _ => Kind::Special,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Hidden;

    /// What was found, in a word.
    fn find_word(settings: &Settings, path: &str, wait: Wait) -> Result<String, Miss> {
        let path = RelativePath::parse(path.as_bytes(), Hidden::Refuse).map_err(Miss::Refused)?;
        let acceptable = Acceptable::parse([&b"gzip"[..]].into_iter(), &settings.precompressed);
        let root = Root::new(&settings.root)?;
        Ok(match find(&root, settings, &path, &acceptable, wait)? {
            Found::Directory => "directory".into(),
            Found::File(file) => format!("{} {:?} {}", file.length, file.coding, file.media_type),
        })
    }

    #[test]
    fn a_blocking_thread_and_the_caches_find_the_same() {
        let root = std::env::temp_dir().join(format!("leat-lookup-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("d")).unwrap();
        for (path, content) in [("a.txt", "123"), ("b.txt", "123"), ("b.txt.gz", "1"), ("d/index.html", "12")] {
            fs::write(root.join(path), content).unwrap();
        }
        let settings = Settings::new(&root);
        for (path, expected) in [
            ("/a.txt", Ok("3 None text/plain; charset=utf-8")),
            ("/b.txt", Ok("1 Some(Gzip) text/plain; charset=utf-8")),
            ("/d/", Ok("2 None text/html; charset=utf-8")),
            ("/d", Ok("directory")),
            ("/", Err(Reason::FileNotFound)),
            ("/missing", Err(Reason::FileNotFound)),
        ] {
            let expected = expected.map(str::to_owned).map_err(Miss::Refused);
            assert_eq!(find_word(&settings, path, Wait::Allowed), expected, "{path}");
            // On an old kernel the caches know nothing.
            let cached = find_word(&settings, path, Wait::Never);
            assert!(cached == expected || cached == Err(Miss::MustWait), "{path}: {cached:?}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn errors_of_the_system_become_the_reasons_that_clients_see() {
        for (error, miss) in [
            (Errno::AGAIN, Miss::MustWait),
            (Errno::NOENT, Miss::Refused(Reason::FileNotFound)),
            (Errno::NOTDIR, Miss::Refused(Reason::FileNotFound)),
            (Errno::NAMETOOLONG, Miss::Refused(Reason::FileNotFound)),
            (Errno::NXIO, Miss::Refused(Reason::FileNotFound)),
            (Errno::ACCESS, Miss::Refused(Reason::FileForbidden)),
            (Errno::XDEV, Miss::Refused(Reason::FileForbidden)),
            (Errno::LOOP, Miss::Refused(Reason::FileForbidden)),
            (Errno::IO, Miss::Refused(Reason::FileFailed)),
            (Errno::MFILE, Miss::Refused(Reason::FileFailed)),
        ] {
            assert_eq!(Miss::from(error), miss, "{error:?}");
        }
    }
}
