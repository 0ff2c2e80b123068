/** A member of an object whose names a caller chose: an inherited one, like `constructor`, does not count. */
export function ownMember<T>(values: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return values != null && Object.hasOwn(values, name) ? values[name] : undefined;
}
