//! Wakes a JavaScript thread: a thread-safe function of Node-API, which is all that Leat uses of Node's event loop.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leat_script::Wake;
use napi::sys;

use crate::port;

/// The way to a JavaScript thread. Outlives it: once the thread has ended, a wake-up goes nowhere.
pub(crate) struct Bell {
    function: sys::napi_threadsafe_function,
    ended: AtomicBool,
}

// SAFETY: a thread-safe function may be called from any thread; `ended` keeps calls away once it was released.
unsafe impl Send for Bell {}
// SAFETY: as above.
unsafe impl Sync for Bell {}

impl Bell {
    /// Makes the function that calls `on_batch` on the thread of `env`, for the lane of that number.
    pub(crate) fn new(env: sys::napi_env, on_batch: sys::napi_value, lane: u32) -> napi::Result<Arc<Self>> {
        let mut name = ptr::null_mut();
        let mut function = ptr::null_mut();
        // SAFETY: called on the thread of `env`, with values that live in the current scope.
        let status = unsafe {
            sys::napi_create_string_utf8(env, c"leat".as_ptr(), 4, &mut name);
            sys::napi_create_threadsafe_function(
                env,
                on_batch,
                ptr::null_mut(),
                name,
                0,
                1,
                ptr::null_mut(),
                None,
                // Not a pointer: the number is all that the call needs to know.
                ptr::without_provenance_mut(lane as usize),
                Some(on_wake),
                &mut function,
            )
        };
        if status != sys::Status::napi_ok {
            return Err(napi::Error::from_reason("Node-API gave no thread-safe function"));
        }
        Ok(Arc::new(Self { function, ended: AtomicBool::new(false) }))
    }

    /// Whether the function keeps the event loop alive.
    pub(crate) fn hold(&self, env: sys::napi_env, hold: bool) {
        // SAFETY: on the thread of `env`, while the function lives.
        unsafe {
            if hold {
                sys::napi_ref_threadsafe_function(env, self.function);
            } else {
                sys::napi_unref_threadsafe_function(env, self.function);
            }
        }
    }

    /// No call from now on. The thread is ending.
    pub(crate) fn end(&self) {
        if !self.ended.swap(true, Ordering::SeqCst) {
            // SAFETY: once, on the JavaScript thread, and nobody calls it afterwards: the lane is detached.
            unsafe { sys::napi_release_threadsafe_function(self.function, sys::ThreadsafeFunctionReleaseMode::abort) };
        }
    }
}

/// A lane's wake-up.
pub(crate) struct Ring(pub(crate) Arc<Bell>);

impl Wake for Ring {
    fn wake(&self) {
        if !self.0.ended.load(Ordering::SeqCst) {
            let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
            // SAFETY: the function was not released; it takes no data. Its queue has no limit, and has one call at most.
            unsafe { sys::napi_call_threadsafe_function(self.0.function, ptr::null_mut(), mode) };
        }
    }
}

/// Runs on the JavaScript thread, once for each wake-up.
unsafe extern "C" fn on_wake(env: sys::napi_env, on_batch: sys::napi_value, lane: *mut c_void, _: *mut c_void) {
    if env.is_null() || on_batch.is_null() {
        return;
    }
    port::take_all(lane.addr() as u32, |published| {
        let mut this = ptr::null_mut();
        let mut arguments = [ptr::null_mut(); 3];
        // SAFETY: on the thread of `env`, in the scope that Node-API opened for this call.
        unsafe {
            sys::napi_get_undefined(env, &mut this);
            for (value, number) in arguments.iter_mut().zip([published.slab, published.from, published.to]) {
                sys::napi_create_uint32(env, number, value);
            }
            let mut result = ptr::null_mut();
            let status = sys::napi_call_function(env, this, on_batch, arguments.len(), arguments.as_ptr(), &mut result);
            if status == sys::Status::napi_pending_exception {
                report(env);
            }
        }
    });
}

/// Reports the pending exception as uncaught. `on_batch` throws nothing, unless the process is being ended under it.
unsafe fn report(env: sys::napi_env) {
    let mut error = ptr::null_mut();
    // SAFETY: as in `on_wake`.
    unsafe {
        if sys::napi_get_and_clear_last_exception(env, &mut error) == sys::Status::napi_ok {
            sys::napi_fatal_exception(env, error);
        }
    }
}
