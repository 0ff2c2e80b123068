import { type ReactNode, useEffect, useRef } from 'react';
import { useMessages } from '../i18n/locale.js';

interface PageProps {
  readonly title: string;
  /** Purpose of the page, in a sentence. */
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page. Its heading takes the focus when the user gets here, so that a screen reader reads it. */
export function Page({ title, lead, actions, children }: PageProps) {
  const { common } = useMessages();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${common.product}`;
  }, [title, common.product]);
  useEffect(() => {
    // On the way back to a list the row takes the focus, because the title is out of sight.
    const row = location.hash === '' ? null : document.getElementById(location.hash.slice(1));
    (row ?? heading.current)?.focus();
  }, []);
  return (
    <>
      <div className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p className="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page. */
export function Section({ title, lead, actions, children }: SectionProps) {
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {lead === undefined ? null : <p className="lead">{lead}</p>}
      {children}
    </section>
  );
}

interface EmptyProps {
  readonly title: string;
  /** Advice on the first step. */
  readonly children: ReactNode;
}

/** Stands in place of a list without items. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
