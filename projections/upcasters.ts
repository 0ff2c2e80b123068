/**
 * Brings the body of an older version of an event type up to the next one. Pure. Events in the log are never changed: whoever reads them
 * upcasts.
 */
export interface Upcaster {
  readonly from: string;
  readonly to: string;
  readonly upcast: (body: unknown) => unknown;
}

/** None yet: every event type has one version. */
export const UPCASTERS: readonly Upcaster[] = [];

/** Type and body in the newest version that the upcasters know. */
export function upcast(
  type: string,
  body: unknown,
  upcasters: readonly Upcaster[] = UPCASTERS,
): { readonly type: string; readonly body: unknown } {
  const step = upcasters.find((candidate) => candidate.from === type);
  return step === undefined ? { type, body } : upcast(step.to, step.upcast(body), upcasters);
}
