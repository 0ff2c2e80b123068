// Types for the tests. versions.js describes the functions.
export function otherVersions(root: URL): Promise<string[]>;
export function setVersion(root: URL, version: string, day: string): Promise<void>;
export function changesOf(changelog: string, version: string): string;
