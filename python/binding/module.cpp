// The module depthcost._core. The package beside it gives its functions types and defaults.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "cli/output/version.hpp"
#include "cli/program/program.hpp"
#include "profile/profile_file.hpp"
#include "python/binding/answer.hpp"
#include "python/binding/array.hpp"
#include "python/binding/documents.hpp"
#include "python/binding/interruptible.hpp"
#include "reports/formats/numbers.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

/// Raises depthcost.InputError(file, line, column, message).
void raise_input_error(const Position& position, const std::string& message) {
  const nb::object type = nb::module_::import_("depthcost.errors").attr("InputError");
  const nb::object error = type(position.file.text(), position.line, position.column, message);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise_input_error(error.position(), error.message());
  } catch (const profile::ForeignSamples& error) {
    raise_input_error({"compare", 1, 1}, error.what());
  }
}

/// Files and their texts as pairs, in order.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<NewFile>& files) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const NewFile& file : files) pairs.emplace_back(file.name, file.content);
  return pairs;
}

nb::tuple made(const MadeFiles& made) {
  return nb::make_tuple(pairs_of(made.files), made.summary, made.missing_plots);
}

nb::tuple both(const Documents& documents) {
  return nb::make_tuple(documents.json, documents.markdown);
}

int run_words(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const nb::gil_scoped_release released;
  return run_program(static_cast<int>(words.size()), pointers.data());
}

void bind_answer(nb::module_& module) {
  nb::class_<Question>(module, "Question");
  module.def("question", &question_of, "kind"_a, "source"_a.none(), "options"_a, "budgets"_a,
             "settings"_a);
  using released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Answer>(module, "Answer")
      .def(nb::init<const Question&, const std::string&>(), "question"_a, "constants"_a, released())
      .def("json", &Answer::json, "rows"_a, released())
      .def("verdict", &Answer::verdict, released())
      .def("markdown", &Answer::markdown, released())
      .def("metrics", &Answer::metrics, released())
      .def("explanation", &Answer::explanation, "metric"_a, released());
}

void bind_sweep(nb::module_& module) {
  using released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Swept>(module, "Swept")
      .def("documents",
           [](Swept& swept) {
             return both(
                 interruptible([&](Progress& progress) { return swept.documents(progress); }));
           })
      .def("csv", &Swept::csv, released())
      .def("text", &Swept::text, released())
      .def("plots", [](Swept& swept) {
        return made(interruptible([&](Progress& progress) { return swept.plots(progress); }));
      });
  module.def(
      "sweep",
      [](const Question& question, const std::vector<std::string>& axes, Count max_points,
         double compute) {
        return interruptible([&](Progress& progress) {
          return std::make_unique<Swept>(question, axes, max_points, compute, progress);
        });
      },
      "question"_a, "axes"_a, "max_points"_a, "compute"_a);
}

void bind_documents(nb::module_& module) {
  module.def(
      "report",
      [](const Question& question) {
        return made(
            interruptible([&](Progress& progress) { return report_of(question, progress); }));
      },
      "question"_a);
  module.def(
      "write_files",
      [](const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files) {
        std::vector<NewFile> all;
        for (const auto& [name, content] : files) all.push_back({name, content});
        const nb::gil_scoped_release released;
        write_files(folder, all);
      },
      "folder"_a, "files"_a);
  module.def(
      "format_seconds",
      [](double seconds) { return format_seconds(Seconds{seconds}, Sign::always); }, "seconds"_a);
  module.def(
      "check",
      [](const Question& question, bool strict) {
        const CheckAnswer answer = interruptible([&](Progress& progress) {
          return check_of(question, strict ? Unknowns::fail : Unknowns::warn, progress);
        });
        return nb::make_tuple(answer.json, answer.markdown, answer.holds);
      },
      "question"_a, "strict"_a);
  module.def(
      "family",
      [](const Question& question) {
        return both(interruptible([&](Progress& /*unused*/) { return family_of(question); }));
      },
      "question"_a);
  module.def(
      "plan",
      [](const Question& question, Count devices, const std::string& max_overhead) {
        return both(interruptible([&](Progress& progress) {
          return plan_of(question, {devices, max_overhead}, progress);
        }));
      },
      "question"_a, "devices"_a, "max_overhead"_a);
}

void bind_measured(nb::module_& module) {
  module.def(
      "compare",
      [](const std::string& measurements, bool published, const std::string& hardware,
         const std::string& tolerances, const std::string& constants, const std::string& workload,
         const std::string& kernel_names, Count steps, const Question* scenario) {
        const CompareQuestion asked{measurements, published, hardware,     tolerances,
                                    constants,    workload,  kernel_names, steps};
        return both(
            interruptible([&](Progress& /*unused*/) { return compare_of(asked, scenario); }));
      },
      "measurements"_a, "published"_a, "hardware"_a, "tolerances"_a, "constants"_a, "workload"_a,
      "kernel_names"_a, "steps"_a, "scenario"_a.none());
  module.def(
      "diff",
      [](const std::string& before, bool before_is_path, const std::string& after,
         bool after_is_path, const std::string& tolerance, bool strict) {
        const DiffAnswer answer = interruptible([&](Progress& /*unused*/) {
          return diff_of({before, before_is_path}, {after, after_is_path}, tolerance,
                         strict ? Improvements::refused : Improvements::allowed);
        });
        return nb::make_tuple(answer.json, answer.markdown, answer.holds);
      },
      "before"_a, "before_is_path"_a, "after"_a, "after_is_path"_a, "tolerance"_a, "strict"_a);
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator(translate);
  module.attr("version") = kVersion;
  using released = nb::call_guard<nb::gil_scoped_release>;
  module.def("program", &run_words, "words"_a);
  module.def("import_config", &imported, "text"_a, "path"_a, "family"_a, released());
  module.def("presets", &list_of_presets, released());
  module.def("preset", &preset_text, "id"_a, released());
  bind_answer(module);
  bind_sweep(module);
  bind_documents(module);
  bind_measured(module);
  bind_array(module);
}

}  // namespace depthcost::python
