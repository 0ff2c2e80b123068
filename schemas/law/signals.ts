/** A signal of browsers by which a person opts out on every page. */
export interface OptOutSignal {
  readonly name: string;
  /** Header of a request that carries it, and the value that means “on”. */
  readonly header: string;
  readonly value: string;
  /** Member of `navigator` that is `true` while it is on. */
  readonly property: string;
}

/** The signals that are heeded. A further one is a further line. */
export const OPT_OUT_SIGNALS: readonly OptOutSignal[] = [
  { name: 'Global Privacy Control', header: 'Sec-GPC', value: '1', property: 'globalPrivacyControl' },
];
