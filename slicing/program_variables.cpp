#include "slicing/program_variables.hpp"

#include "slicing/source_words.hpp"

namespace fairgv::slicing {
namespace {

bool is_word(std::string_view token) {
  return token.size() > 1 || token == "_" || (token >= "a" && token <= "z") || (token >= "A" && token <= "Z");
}

// Text outside of functions, up to its semicolon or its body.
struct Declaration {
  unsigned words = 0;        // outside of parentheses and bodies, attributes left out
  unsigned later_words = 0;  // of these, after the first parenthesis
  unsigned body_words = 0;   // before the body
  unsigned groups = 0;       // in parentheses, attributes left out
  bool is_type = false;      // typedef
  bool is_record = false;    // struct, union, enum
  bool is_constant = false;  // in constant memory, or a sampler
  bool has_value = false;
  bool has_body = false;  // of a record

  void add(std::string_view word) {
    ++words;
    if (groups > 0) ++later_words;
    is_type = is_type || word == "typedef";
    is_record = is_record || word == "struct" || word == "union" || word == "enum";
    is_constant = is_constant || word == "constant" || word == "__constant" || word == "sampler_t";
  }

  bool is_function() const { return groups == 1 && later_words == 0 && words >= 2; }

  // At its semicolon.
  bool may_define_variable() const {
    if ((words == 0 && groups == 0) || is_type || is_constant) return false;
    if (has_value) return true;
    if (is_record && has_body) return words > body_words;
    if (is_record && groups == 0) return words != 2;
    return !is_function();
  }
};

// Reads the source token by token, until it has seen a variable.
class Reader {
 public:
  bool sees_variable(std::string_view token) {
    if (braces_ > 0) return in_braces(token);
    if (token == "(" || token == "[") {
      if (parentheses_++ == 0 && token == "(" && !attribute_) ++now_.groups;
    } else if (token == ")" || token == "]") {
      if (parentheses_ > 0 && --parentheses_ == 0) attribute_ = false;
    } else if (parentheses_ > 0) {
      return false;
    } else if (token == "__attribute__" || token == "__attribute") {
      attribute_ = true;
    } else if (token == "{") {
      braces_ = 1;
      in_function_ = !now_.has_value && !(now_.is_record && now_.groups == 0);
      if (!in_function_) now_.has_body = true;
      now_.body_words = now_.words;
    } else if (token == ";") {
      const bool found = now_.may_define_variable();
      now_ = {};
      return found;
    } else if (token == "=") {
      now_.has_value = true;
    } else if (is_word(token)) {
      now_.add(token);
    }
    return false;
  }

 private:
  bool in_braces(std::string_view token) {
    if (token == "{") ++braces_;
    if (token == "}" && --braces_ == 0 && in_function_) {
      const bool odd = !now_.is_function();
      now_ = {};
      return odd;
    }
    return in_function_ && token == "static";
  }

  Declaration now_;
  unsigned parentheses_ = 0;
  unsigned braces_ = 0;
  bool attribute_ = false;
  bool in_function_ = false;
};

}  // namespace

bool may_define_variables(std::string_view source) {
  SourceWords words(source);
  Reader reader;
  while (const auto token = words.next_token()) {
    if (*token == "#") {
      words.skip_line();
    } else if (reader.sees_variable(*token)) {
      return true;
    }
  }
  return false;
}

bool may_have_program_variables(std::string_view options) {
  constexpr std::string_view kOption = "-cl-std=";
  for (std::size_t at = options.find(kOption); at != std::string_view::npos; at = options.find(kOption, at)) {
    at += kOption.size();
    if (!options.substr(at).starts_with("CL1")) return true;
  }
  return false;
}

}  // namespace fairgv::slicing
