import { type ReactNode, useMemo } from 'react';
import { type Block, blocksOf, type Inline } from './markdown-blocks.js';

/**
 * Renders a Markdown text. Every part of it is an element that this program creates, so nothing in the text can run.
 * Its headings are one level below those of the page.
 */
export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return <div className="markdown">{blocks.map((block, index) => drawnBlock(block, index))}</div>;
}

function drawnBlock(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case 'heading': {
      const Heading = block.level === 1 ? 'h3' : block.level === 2 ? 'h4' : 'h5';
      return (
        <Heading key={key} dir="auto">
          {drawn(block.children)}
        </Heading>
      );
    }
    case 'paragraph':
      return (
        <p key={key} dir="auto">
          {drawn(block.children)}
        </p>
      );
    case 'quote':
      return (
        <blockquote key={key} dir="auto">
          {drawn(block.children)}
        </blockquote>
      );
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul';
      return (
        <List key={key} dir="auto">
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the items have no name, and their order is fixed
            <li key={index} dir="auto">
              {drawn(item)}
            </li>
          ))}
        </List>
      );
    }
    case 'code':
      return (
        <pre key={key} className="code">
          {block.text}
        </pre>
      );
    case 'line':
      return <hr key={key} />;
  }
}

function drawn(inlines: readonly Inline[]): ReactNode {
  return inlines.map((inline, key) => drawnInline(inline, key));
}

function drawnInline(inline: Inline, key: number): ReactNode {
  switch (inline.kind) {
    case 'text':
      return inline.text;
    case 'code':
      return <code key={key}>{inline.text}</code>;
    case 'strong':
      return <strong key={key}>{drawn(inline.children)}</strong>;
    case 'emphasis':
      return <em key={key}>{drawn(inline.children)}</em>;
    case 'link':
      return (
        <a key={key} href={inline.href} rel="noreferrer noopener" target="_blank">
          {drawn(inline.children)}
        </a>
      );
  }
}
