/**
 * OpenAI's dialect for the scripted provider: chat completions, whole and streamed, as well-formed or as broken as a
 * test wants.
 * @module
 */
import { type Behaviour, errorBody, type Exchange, finish, type Gate, headOf, json, type ReceivedRequest } from "./upstream.ts";
