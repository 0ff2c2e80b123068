import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Page } from '../../ui/page.js';
import { PLACES, type Place } from './place.js';

interface StepPageProps {
  readonly place: Place;
  /** Null before the site is added: then there are no other steps to go to. */
  readonly siteId: string | null;
  readonly lead: string;
  readonly children: ReactNode;
}

/** One step of the wizard. Its heading takes the focus when the user gets here. */
export function StepPage({ place, siteId, lead, children }: StepPageProps) {
  const { wizard } = useMessages();
  const { number } = useFormats();
  const at = PLACES.indexOf(place);
  return (
    <>
      <nav aria-label={wizard.steps}>
        <ol className="wizard-steps">
          {PLACES.map((one, index) => (
            <li
              key={one}
              className={index < at ? 'wizard-step-past' : undefined}
              aria-current={one === place ? 'step' : undefined}
            >
              <span className="wizard-number" aria-hidden="true">
                {number(index + 1)}
              </span>
              {siteId === null || one === place ? (
                <span>{wizard.names[one]}</span>
              ) : (
                <Link to="/sites/new" search={{ site: siteId, step: one }}>
                  {wizard.names[one]}
                </Link>
              )}
            </li>
          ))}
        </ol>
      </nav>
      <Page
        key={place}
        title={wizard.titles[place]}
        lead={
          <>
            <span className="for-readers">{wizard.step(number(at + 1), number(PLACES.length))}. </span>
            {lead}
          </>
        }
      >
        {children}
      </Page>
    </>
  );
}
