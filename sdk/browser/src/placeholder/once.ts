import type { ConsentSource } from '../../../core/consent.js';

/** The part of a consent that this file reads. The names are public, because each built file shortens its own. */
export type PublicConsent = Pick<
  ConsentSource,
  'state' | 'subscribe' | 'allows' | 'allowsService' | 'choose' | 'isGpcOn' | 'isOptedOutOfSale'
>;

/** The visitor's statements so far: the choice in force, the signal, and the opt-out. */
const said = ({ state, isGpcOn, isOptedOutOfSale }: PublicConsent): string =>
  JSON.stringify([state.choice?.at, isGpcOn, isOptedOutOfSale]);

/**
 * Calls back once, when the permission to load once ends: the visitor makes another choice in this or another tab, the
 * browser begins to send its signal, or the page is left.
 * @returns a function that stops this
 */
export function untilSomethingElseIsSaid(consent: PublicConsent, end: () => void): () => void {
  const before = said(consent);
  const stop = (): void => {
    unsubscribe();
    removeEventListener('pagehide', ended);
  };
  const ended = (): void => {
    stop();
    end();
  };
  let unsubscribe = (): void => undefined;
  unsubscribe = consent.subscribe(() => said(consent) !== before && ended());
  addEventListener('pagehide', ended);
  return stop;
}
