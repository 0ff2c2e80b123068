/** What happens when a listener throws, so that the process does not end. */
export interface Guard<Values extends readonly unknown[]> {
  /** Ends the request, connection or read that the listener belongs to. It receives the values of the event. */
  readonly end: (error: Error, ...values: Values) => void;
  /** Counts and reports the exception. */
  readonly onCaught: (error: unknown) => void;
}

/**
 * Wraps a listener of an emitter so that it cannot end the process. Nothing else catches what a listener throws, and
 * bytes from one untrusted party could end the work of all tenants.
 */
export function guarded<Values extends readonly unknown[]>(
  listener: (...values: Values) => void,
  { end, onCaught }: Guard<Values>,
): (...values: Values) => void {
  return (...values) => {
    try {
      listener(...values);
    } catch (error) {
      onCaught(error);
      end(error instanceof Error ? error : new Error(String(error)), ...values);
    }
  };
}
