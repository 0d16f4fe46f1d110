/** Why there is no addon to work with. The codes are part of the package's interface. */
export type AddonErrorCode =
    /** Node.js is too old. */
    | "LEAT_UNSUPPORTED_NODE"
    /** The package brings no addon for this platform, and none was built. */
    | "LEAT_UNSUPPORTED_PLATFORM"
    /** The package should have brought an addon for this platform, but the file is not there. */
    | "LEAT_ADDON_MISSING"
    /** Node.js was told not to load native addons. */
    | "LEAT_ADDON_REFUSED"
    /** The file is there and could not be loaded; `cause` says why. */
    | "LEAT_ADDON_FAILED"
    /** The addon was built from other sources than this package. */
    | "LEAT_ADDON_MISMATCH";

/** The native addon cannot be had. The message names the platform or the flag in the way, and the way out. */
export class AddonError extends Error {
    readonly code: AddonErrorCode;

    constructor(code: AddonErrorCode, message: string, options?: ErrorOptions) {
        super(message, options);
        this.name = "AddonError";
        this.code = code;
    }
}
