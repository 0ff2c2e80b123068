import { createContext, useContext } from 'react';
import type { Session } from './session.js';

/** The session of the provider around a component, or null outside of a provider. */
export const SessionContext = createContext<Session | null>(null);

/** @throws Error outside of a provider */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('No ConsentProvider is around this component.');
  return session;
}
