/** Why a delivery failed, in the language of the reader. */
export interface DeliveryErrors {
  readonly answered: (status: string) => string;
  readonly noAnswer: string;
  readonly noConnection: (code: string) => string;
  /** Sentences by the text of the service. */
  readonly others: Readonly<Record<string, string>>;
}

/**
 * A failure of a delivery as a readable sentence.
 * @param error text of the service; an unknown text is shown unchanged
 */
export function errorInWords(error: string, { answered, noAnswer, noConnection, others }: DeliveryErrors): string {
  const [, status] = /^the receiver answered (\d+)$/.exec(error) ?? [];
  if (status !== undefined) return answered(status);
  if (error.startsWith('no response within ')) return noAnswer;
  const [, code] = /^no connection \(([^)]*)\)$/.exec(error) ?? [];
  if (code !== undefined) return noConnection(code);
  return others[error] ?? error;
}
