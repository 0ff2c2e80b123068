import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Api } from './api/client.js';
import type { Session, SessionStore } from './api/session.js';
import type { CurrentUser } from './api/types.js';
import { may, type Right } from './rights.js';

interface App {
  readonly api: Api;
  readonly session: SessionStore;
}

const Context = createContext<App | null>(null);

export const AppProvider = Context;

function useApp(): App {
  const app = useContext(Context);
  if (app === null) throw new Error('no AppProvider is above this component');
  return app;
}

/** The panel API, with the sign-in of the user. */
export function useApi(): Api {
  return useApp().api;
}

export function useSessionStore(): SessionStore {
  return useApp().session;
}

export function useSession(): Session {
  const { session } = useApp();
  return useSyncExternalStore(
    (listener) => session.subscribe(listener),
    () => session.session,
  );
}

/** The user; only on pages that need a sign-in. */
export function useUser(): CurrentUser {
  const session = useSession();
  if (session.status !== 'signed-in') throw new Error('this page needs a sign-in');
  return session.user;
}

/** Whether the role of the user permits an action. The dashboard does not offer the other actions. */
export function useMay(right: Right): boolean {
  return may(useUser().role, right);
}
