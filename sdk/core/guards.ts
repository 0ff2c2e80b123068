/** Whether a value has the type. */
export type Guard<T> = (value: unknown) => value is T;

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isNumber = (value: unknown): value is number => typeof value === 'number';
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
/** Whoever reads the value checks it. */
export const isUnchecked = (_: unknown): _ is unknown => true;
export const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const nullable =
  <T>(guard: Guard<T>): Guard<T | null> =>
  (value): value is T | null =>
    value === null || guard(value);

export const optional =
  <T>(guard: Guard<T>): Guard<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || guard(value);

export const listOf =
  <T>(guard: Guard<T>): Guard<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(guard);

export const recordOf =
  <T>(guard: Guard<T>): Guard<Record<string, T>> =>
  (value): value is Record<string, T> =>
    isMembers(value) && Object.values(value).every(guard);

/** Answers for categories or services. */
export const areAnswers: Guard<Record<string, boolean>> = /* @__PURE__ */ recordOf(isFlag);

/** Further members are permitted: a newer service may send them. */
export const objectOf =
  <T extends object>(guards: { readonly [K in keyof T]-?: Guard<T[K]> }): Guard<T> =>
  (value): value is T =>
    isMembers(value) &&
    Object.entries<(member: unknown) => boolean>(guards).every(([name, guard]) => guard(value[name]));

/** Parses JSON. @returns undefined if the text is not JSON of this type */
export function parseJson<T>(text: string, guard: Guard<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return guard(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
