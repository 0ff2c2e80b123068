export { type ByteSource, memorySource } from './container/byte-source.js';
export { type FileSource, openFileSource } from './container/file-source.js';
export { CHECKS, type CheckId, type Outcome } from './findings/check-table.js';
export type { CheckResult, Location, Problem } from './findings/findings.js';
export type { Verdict } from './findings/verdict.js';
export { asciiJson, printable } from './report/printable.js';
export type { VerificationReport } from './report/report.js';
export { terminalReport } from './report/terminal.js';
export { DEFAULT_MAX_DELAY_MS, NotAPackage, type VerifyOptions, verifyPackage } from './verify-package.js';
