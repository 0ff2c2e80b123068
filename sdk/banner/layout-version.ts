/**
 * Changes with every change of what a layout shows, apart from its texts and its theme. Version 1 is the bar of SDKs
 * that had one layout; no program draws it. Version 2 knew no notice, and measured by the text size of its page.
 */
export const LAYOUT_VERSION = 3;

/** Changes with the words of a notice, in any language. */
export const NOTICE_VERSION = 1;
