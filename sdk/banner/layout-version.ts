/** Changes with every change of what a layout shows, beside its texts and its theme. */
export const LAYOUT_VERSION = 1;
