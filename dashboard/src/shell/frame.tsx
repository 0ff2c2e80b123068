import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useContext, useEffect, useState } from 'react';
import { useApi, useSessionStore, useUser } from '../app-context.js';
import { useMessages } from '../i18n/locale.js';
import { forgetTyped } from '../pages/wizard/typed.js';
import { Button } from '../ui/button.js';
import { UnsavedContext } from '../ui/unsaved.js';
import { AskToLeave } from './ask-to-leave.js';
import { Finder } from './finder.js';
import { Navigation } from './navigation.js';
import { Preferences } from './preferences.js';

/** The frame of pages for users: navigation, preferences and the way out. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const { shell, common } = useMessages();
  const user = useUser();
  const api = useApi();
  const session = useSessionStore();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu of a phone
  useEffect(() => setMenuOpen(false), [path]);
  const unsaved = useContext(UnsavedContext);
  const [asks, setAsks] = useState(false);
  const signOut = async () => {
    await api.POST('/api/v1/auth/logout', { body: {} }).catch(() => undefined);
    forgetTyped();
    session.end();
  };
  return (
    <div className={isMenuOpen ? 'frame menu-open' : 'frame'}>
      <a className="skip" href="#content">
        {shell.skip}
      </a>
      <header className="head">
        <div className="top">
          <Button
            look="quiet"
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onPress={() => setMenuOpen(!isMenuOpen)}
          >
            {shell.menu}
          </Button>
          <span className="brand">{common.product}</span>
        </div>
        <div className="side" id="navigation">
          <span className="brand side-brand">{common.product}</span>
          <Navigation />
          <div className="side-foot">
            <p className="who">
              <span className="who-address">{user.email}</span>
              <span className="hint">{shell.roles[user.role as keyof typeof shell.roles]}</span>
            </p>
            <Preferences />
            <Button onPress={() => (unsaved?.held() ? setAsks(true) : signOut())}>{shell.signOut}</Button>
          </div>
        </div>
      </header>
      <div className="page">
        <Finder />
        <main className="content" id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <AskToLeave isOpen={asks} onStay={() => setAsks(false)} onLeave={signOut} />
    </div>
  );
}
