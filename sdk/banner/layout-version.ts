/**
 * Changes with every change of what a layout shows, beside its texts and its theme. Version 1 is the
 * bar of SDKs that had one layout; no program draws it.
 */
export const LAYOUT_VERSION = 2;
