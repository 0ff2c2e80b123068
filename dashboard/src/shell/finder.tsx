import { useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { identifierIn } from '../../../schemas/text/identifier-in.js';
import { dataOf } from '../api/client.js';
import type { NamedThing } from '../api/types.js';
import { useApi, useMay, useUser } from '../app-context.js';
import { useFormats, useMessages } from '../i18n/locale.js';
import { Button } from '../ui/button.js';
import { useFailureText } from '../ui/failure-text.js';
import { placeOf } from '../ui/thing-link.js';
import { FindPerson } from './find-person.js';
import { Hits } from './hits.js';

interface Answer {
  /** What was typed. It can be a person, so it is kept in the memory of the page alone. */
  readonly text: string;
  readonly hits: readonly NamedThing[];
}

/** The search for what people send in, at the top of every page. */
export function Finder() {
  const { finder } = useMessages();
  const { number } = useFormats();
  const failureText = useFailureText();
  const api = useApi();
  const navigate = useNavigate();
  const { role } = useUser();
  const maySearchPerson = useMay('seePersonalData');
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [told, setTold] = useState('');
  /** Number of the search; an answer to an earlier one is dropped. */
  const search = useRef(0);
  const path = useRouterState({ select: ({ location }) => location.pathname });

  const clear = () => {
    search.current += 1;
    setText('');
    setAnswer(null);
    setTold('');
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page ends the search
  useEffect(clear, [path]);
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);

  const absent = (wanted: string): string => {
    if (isToken(wanted)) return finder.noToken;
    return identifierIn(wanted) !== null || !maySearchPerson ? finder.nothing : finder.personTitle;
  };
  const find = async (event: FormEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    search.current += 1;
    const own = search.current;
    setAnswer(null);
    setTold(finder.finding);
    try {
      const hits =
        identifierIn(wanted) === null ? [] : await dataOf(api.POST('/api/v1/search', { body: { text: wanted } }));
      if (own !== search.current) return;
      const [only] = hits;
      const place = only === undefined || hits.length > 1 ? null : placeOf(only, role);
      if (place !== null) {
        clear();
        await navigate(place);
        return;
      }
      setAnswer({ text: wanted, hits });
      setTold(hits.length > 0 ? finder.found(number(hits.length)) : absent(wanted));
    } catch (error) {
      if (own === search.current) setTold(failureText(error));
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    clear();
    field.current?.focus();
  };
  const isPerson = answer !== null && answer.hits.length === 0 && maySearchPerson && !isToken(answer.text);
  return (
    <search className="finder" onKeyDown={onKeyDown}>
      <form className="finder-form" onSubmit={find}>
        <input
          ref={field}
          className="input finder-field"
          type="text"
          inputMode="search"
          enterKeyHint="search"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          maxLength={200}
          aria-label={finder.label}
          aria-keyshortcuts="/"
          placeholder={maySearchPerson ? finder.placeholder : finder.placeholderWithoutPerson}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <span className="key-hint" aria-hidden="true">
          /
        </span>
        <Button type="submit">{finder.find}</Button>
      </form>
      <p role="status" className={told === finder.personTitle ? 'for-readers' : 'finder-told'}>
        {told}
      </p>
      {answer === null ? null : (
        <section
          className={answer.hits.length > 0 ? 'card finder-results' : 'card finder-results finder-none'}
          aria-label={finder.results}
        >
          {answer.hits.length > 0 ? <Hits hits={answer.hits} /> : <h1 className="for-readers">{finder.label}</h1>}
          {isPerson ? <FindPerson key={answer.text} value={answer.text} onTell={setTold} onLeave={clear} /> : null}
          {answer.hits.length > 0 ? null : <p className="hint">{finder.canFind}</p>}
          <div className="actions">
            <Button
              onPress={() => {
                clear();
                field.current?.focus();
              }}
            >
              {finder.clear}
            </Button>
          </div>
        </section>
      )}
    </search>
  );
}

/** Whether a text begins as a consent token does, complete or not. */
function isToken(text: string): boolean {
  return /^[^0-9a-z]*ct_/i.test(text);
}

/** Whether a key belongs to a field or a dialog. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('[role=dialog],[role=alertdialog]') !== null) return true;
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
