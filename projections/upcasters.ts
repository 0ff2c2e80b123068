/**
 * Converts the body of an older version of an event type to the next one. It is pure. Events in the
 * log never change; every reader upcasts them.
 */
export interface Upcaster {
  readonly from: string;
  readonly to: string;
  readonly upcast: (body: unknown) => unknown;
}

/** Empty, because every event type has one version. */
export const UPCASTERS: readonly Upcaster[] = [];

/** Returns type and body in the newest version that the upcasters know. */
export function upcast(
  type: string,
  body: unknown,
  upcasters: readonly Upcaster[] = UPCASTERS,
): { readonly type: string; readonly body: unknown } {
  const step = upcasters.find((candidate) => candidate.from === type);
  return step === undefined ? { type, body } : upcast(step.to, step.upcast(body), upcasters);
}

/** Returns the newest version of a type that the upcasters know. */
export function newestType(type: string, upcasters: readonly Upcaster[] = UPCASTERS): string {
  const step = upcasters.find((candidate) => candidate.from === type);
  return step === undefined ? type : newestType(step.to, upcasters);
}
