// Everything that the SDK takes from its surroundings, apart from the language: React Native has it with Hermes, and so
// does each web view. A use of anything else does not compile.
declare function setTimeout(action: (...values: unknown[]) => void, ms?: number): number;
declare function clearTimeout(timer: number | undefined): void;
declare const console: Record<'warn' | 'error', (...values: unknown[]) => void>;
declare function fetch(
  url: string,
  options: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    credentials: 'omit';
    cache: 'no-cache';
  },
): Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;
/** Absent in Hermes, unless the app has a library that adds it. */
declare const crypto: { getRandomValues(bytes: Uint8Array): Uint8Array } | undefined;
