import type { en } from './en/index.js';

/** The texts of the dashboard. Every language has the same ones, which the compiler checks. */
export type Messages = typeof en;
