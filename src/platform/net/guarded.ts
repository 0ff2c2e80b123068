/** What a listener that throws ends, instead of the process. */
export interface Guard<Values extends readonly unknown[]> {
  /** Ends the request, connection or read that the listener belongs to. It gets the values of the event. */
  readonly end: (error: Error, ...values: Values) => void;
  /** Counts and reports the exception. */
  readonly onCaught: (error: unknown) => void;
}

/**
 * Returns a listener of an emitter that cannot end the process. Nothing catches what a listener throws, so that
 * the bytes of one stranger would end the work of all tenants.
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
